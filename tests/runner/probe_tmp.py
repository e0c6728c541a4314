import importlib.util, pathlib, sys, tempfile, os, shutil, time
sys.path.insert(0,'core')
def ld(n,p):
    spec=importlib.util.spec_from_file_location(n,p); m=importlib.util.module_from_spec(spec); spec.loader.exec_module(m); return m
cf=ld("cf","tests/runner/conftest.py"); td=ld("td","tests/runner/test_device.py")
import torch
from kengine import codec
from kengine.judge.arena import make_arena
os.system("ls -la /dev/shm")
from kengine.runner.devicememory import SharedMemory, supported
torch.ones(1,device="cuda"); print("supported",supported())
class A:
    def __init__(self):
        self.m=SharedMemory(16384); self.nbytes=self.m.nbytes; self.view=self.m.piece(0,self.nbytes); self.fd=self.m.export()
    def describe(self): return {"via":"cuda_fd","nbytes":self.nbytes,"number":1,"device":0}
arena=A(); print(arena.fd, os.readlink("/proc/self/fd/%d"%arena.fd), os.fstat(arena.fd))

z=cf.Zygote(); z.start(target="double:cuda",preload=("numpy","torch","triton"))
NS=("pid_namespace","mount_namespace","network_namespace","ipc_namespace","uts_namespace","user_namespace")
ALL=(*NS,"no_new_privs","landlock","uid","capabilities","seccomp","private_root")
def go(w):
    made,view=td.bundle(torch,arena)
    d=pathlib.Path(tempfile.mkdtemp()); d.chmod(0o755)
    try:
        r=cf.Runner(z,d,device="cuda",without=list(w)); r.compile(td.TRITON)
        rep=r.ask("launch",{"case":codec.to_json(td.CaseView(0,(td.SPEC,))),"mode":"normal","bundle":made},(arena.fd,),timeout_s=60)
        print("   ", rep["ok"], rep.get("fault",{}).get("message","")[:70]); print("   ",r.ready_s, view[8192:12288].view(torch.float32)[:3].tolist()); t=time.perf_counter(); r.kill(); print("   kill %.1f ms"%((time.perf_counter()-t)*1e3))
    except Exception as e: print(w,repr(e))
os.system("ls -la /dev/shm")
go(()); go(())
go(("user_namespace","private_root")); go(NS); go(("uid",)); go(ALL)
print(arena.describe())
z.close()
