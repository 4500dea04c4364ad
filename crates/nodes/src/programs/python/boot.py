import os,sys
if sys.version_info<(3,9):sys.exit("Python 3.9 or newer is needed, and this is "+sys.version.split()[0])
i,o=os.fdopen(os.dup(0),"rb"),os.fdopen(os.dup(1),"wb")
n=os.open(os.devnull,os.O_RDONLY);os.dup2(n,0);os.dup2(2,1)
# Each module: its name and length on a line, then its source. A module imports only those before it.
for name,length in iter(lambda:i.readline().decode().split(),[]):
    module=sys.modules[name]=type(sys)(name)
    module.__package__="superstep_worker"
    if name==module.__package__:module.__path__=[]
    exec(compile(i.read(int(length)).decode(),"<superstep>","exec"),module.__dict__)
module.main(i,o)
