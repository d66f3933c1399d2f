import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads';
import { applyFault, type Fault } from './fault.ts';

/** Preloaded by a process that runs with the fault in `CUELINE_FAULT` (JSON). */

const name = 'CUELINE_FAULT';
// Threads get what their process has found.
const json = isMainThread ? process.env[name] : getEnvironmentData(name);
const fault = JSON.parse(String(json)) as Fault;
setEnvironmentData(name, JSON.stringify(fault));
delete process.env[name];
const target = pathToFileURL(join(import.meta.dirname, '..', 'src', fault.file)).href;

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (url !== target) return loaded;
    return { ...loaded, source: applyFault(fault, String(loaded.source)) };
  },
});
