"""Values as they are compared."""
import enum, dataclasses
def plain(v):
    if isinstance(v, enum.Enum): return {"$class": f"{type(v).__module__}.{type(v).__qualname__}", "value": plain(v.value)}
    if v is None or isinstance(v, (bool, int, str)): return v
    if isinstance(v, float): return v if v == v and abs(v) != float("inf") else {"$float": str(v)}
    if isinstance(v, bytes): return {"$bytes": v.hex()}
    if isinstance(v, dict): return {str(k): plain(x) for k, x in v.items()}
    if isinstance(v, (list,)): return [plain(x) for x in v]
    if isinstance(v, tuple) : return {"$class": "tuple", "value": [plain(x) for x in v]}
    if isinstance(v, (set, frozenset)): return {"$class": type(v).__name__, "value": sorted(plain(x) for x in v)}
    if hasattr(v, "model_dump"):
        d = {k: plain(x) for k, x in v.model_dump().items() if x not in (None, [], {}, "") or k in ("content",)}
        return {"$class": f"{type(v).__module__}.{type(v).__qualname__}", "fields": d}
    if dataclasses.is_dataclass(v): return {"$class": f"{type(v).__module__}.{type(v).__qualname__}", "fields": {f.name: plain(getattr(v, f.name)) for f in dataclasses.fields(v)}}
    return {"$class": f"{type(v).__module__}.{type(v).__qualname__}", "text": str(v)}
def conf(c): c = c["configurable"]; return {"ns": c.get("checkpoint_ns", ""), "id": c.get("checkpoint_id")}
