"""Which folders count as readable: installations and loaded packages, never a project that merely lies on sys.path."""

from __future__ import annotations

import os
import sys
import types

from kengine.runner.sandbox import identity, paths


def test_interpreter_and_system_are_readable():
    found = paths.readable()
    assert any(os.__file__.startswith(p + "/") for p in found)
    assert all(os.path.exists(p) for p in found)
    assert not {"/", "/home", "/root", "/tmp", os.path.expanduser("~")} & set(found)
    assert not any(a != b and b.startswith(a + "/") for a in found for b in found)


def test_a_project_on_the_path_gives_only_its_loaded_packages(tmp_path, monkeypatch):
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("")
    (tmp_path / "task.py").write_text("secret")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = types.ModuleType("pack")
    module.__file__ = str(tmp_path / "pack" / "__init__.py")
    monkeypatch.setitem(sys.modules, "pack", module)
    found = paths.readable()
    assert str(tmp_path) not in found
    assert str(tmp_path / "pack") in found


def test_an_installation_on_the_path_is_readable_whole(tmp_path, monkeypatch):
    for name in ("site-packages", "target/thing-1.0.dist-info"):
        (tmp_path / name).mkdir(parents=True)
    for folder in (tmp_path / "site-packages", tmp_path / "target"):
        monkeypatch.syspath_prepend(str(folder))
        assert str(folder) in paths.readable()


def test_open_to_all(tmp_path):
    file = tmp_path / "f"
    file.write_text("")
    file.chmod(0o644)
    assert identity.open_to_all([str(file)])
    file.chmod(0o640)
    assert not identity.open_to_all([str(file)])
    assert identity.open_to_all([str(tmp_path / "missing")])
    assert str(tmp_path) in identity.parents([str(file)])


def test_folders_above_users_files_are_never_readable_whoever_names_them(tmp_path, monkeypatch):
    (tmp_path / "lib").mkdir()
    named = [str(tmp_path / "lib"), os.path.expanduser("~"), "/tmp", "/home", "/", "relative", ""]
    monkeypatch.setenv("LD_LIBRARY_PATH", os.pathsep.join(named))
    monkeypatch.setattr(sys, "exec_prefix", "/")
    found = paths.readable()
    assert str(tmp_path / "lib") in found and not set(named[1:]) & set(found)


def test_a_private_environment_leads_every_toolchain_into_the_private_folder(tmp_path):
    import subprocess

    text = (
        "import os, sys, tempfile; sys.path.insert(0, sys.argv[3])\n"
        "from kengine.runner import environment\n"
        "tempfile.gettempdir()\n"  # asked for before, by a library that was imported
        "environment.make_private(sys.argv[1], sys.argv[2])\n"
        "print(tempfile.gettempdir(), os.getcwd(), os.environ['HOME'], os.environ['TRITON_CACHE_DIR'], sep='\\n')\n"
    )
    core = os.path.dirname(os.path.dirname(sys.modules["kengine"].__file__))
    for name in ("work", "cache"):
        (tmp_path / name).mkdir()
    work, cache = str(tmp_path / "work"), str(tmp_path / "cache")
    for given, triton in (("", f"{work}/cache/triton"), (cache, f"{cache}/triton")):
        done = subprocess.run(
            [sys.executable, "-c", text, work, given, core], capture_output=True, text=True, check=True
        )
        assert done.stdout.split("\n")[:4] == [f"{work}/tmp", work, work, triton]


def test_namespaces_that_go_one_by_one_are_taken_where_they_do_not_go_together(monkeypatch):
    from kengine.runner.sandbox import namespaces

    def refuse(flags):
        raise PermissionError

    left = []

    def unshare(flags):
        if flags == namespaces._FLAGS["network_namespace"]:
            raise PermissionError
        left.append(flags)

    monkeypatch.setattr(namespaces.syscalls, "fork_into", refuse)
    monkeypatch.setattr(namespaces.syscalls, "unshare", unshare)
    read, write = os.pipe()
    pid, made = namespaces.fork({"uts_namespace"})
    if pid == 0:
        os.write(write, " ".join(made).encode())
        os._exit(0)
    os.close(write)
    os.waitpid(pid, 0)
    assert made == () and os.read(read, 200) == b"mount_namespace ipc_namespace" and left == []
    os.close(read)
