#pragma once  // its content is always included
