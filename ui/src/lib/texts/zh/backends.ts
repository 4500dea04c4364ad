/**
 * Chinese of the storage backends, by their scheme. Rust sends their titles and summaries in English with the list;
 * `texts.rs` in `tests/acceptance` holds that none is missing here.
 */
import type { BackendWords } from "../../texts";

export const backends: Readonly<Record<string, BackendWords>> = {
  sqlite: { title: "SQLite 文件", summary: "此电脑上的一个文件。默认选项。" },
  file: { title: "文件夹", summary: "每个线程一份日志，各行可直接阅读。" },
  postgres: { title: "PostgreSQL", summary: "可供多人同时使用的服务器。" },
  langgraph: { title: "LangGraph 文件", summary: "LangGraph 程序的 SqliteSaver 所保存的线程。只能读取。" },
  "agent-server": {
    title: "LangGraph 服务器",
    summary: "LangGraph 服务器（`langgraph dev`、LangGraph Platform）的线程，通过其 API 读取。只能读取。",
  },
  redis: { title: "Redis", summary: "把线程保存在内存中的服务器，配置后也保存到磁盘。" },
  memory: { title: "内存", summary: "Superstep 关闭时丢弃。" },
};
