# list(APPEND sources scenario/x.cpp): sources of this folder.
