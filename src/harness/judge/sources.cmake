# list(APPEND sources judge/x.cpp): sources of this folder.
