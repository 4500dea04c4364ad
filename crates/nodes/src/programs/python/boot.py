import os,sys
if sys.version_info<(3,9):sys.exit("Python 3.9 or newer is needed, and this is "+sys.version.split()[0])
i,o=os.fdopen(os.dup(0),"rb"),os.fdopen(os.dup(1),"wb")
n=os.open(os.devnull,os.O_RDONLY);os.dup2(n,0);os.dup2(2,1)
names={"__name__":"superstep_worker"}
exec(compile(i.read(int(i.readline())).decode(),"<superstep>","exec"),names)
names["main"](i,o)
