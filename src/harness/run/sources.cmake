# list(APPEND sources run/x.cpp): sources of this folder.
