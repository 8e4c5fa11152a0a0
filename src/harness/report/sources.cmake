# list(APPEND sources report/x.cpp): sources of this folder.
