def generate(seed): raise NotImplementedError
