// Runs Python in Pyodide, as a server of tools in Node would: a line {id, fresh, code} in, a line {id, value} out; the first line says that it is ready.
// Without fresh all calls share one runtime and what they leave there. With it each has a thread and an interpreter of its own, which end with it;
// they still share the process.
import { createInterface } from "node:readline";
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";
import { loadPyodide } from "pyodide";

const own = await loadPyodide();
if (isMainThread) {
  const say = (id, said) => console.log(JSON.stringify({ id, ...said }));
  say(0, { value: own.runPython("import sys; sys.version.split()[0]") });
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, fresh, code } = JSON.parse(line);
    if (!fresh) {
      say(id, { value: String(own.runPython(code)) });
      continue;
    }
    const worker = new Worker(new URL(import.meta.url), { workerData: code });
    worker.once("error", (e) => say(id, { error: String(e) }));
    worker.once("message", (value) => worker.terminate().then(() => say(id, { value })));
  }
} else {
  parentPort.postMessage(String(own.runPython(workerData)));
}
