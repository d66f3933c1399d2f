import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { applyFault, type Fault } from './fault.ts';

/** Preloaded by a process that runs with the fault in `CUELINE_FAULT` (JSON). */

const fault = JSON.parse(process.env.CUELINE_FAULT ?? '') as Fault;
delete process.env.CUELINE_FAULT;
const target = pathToFileURL(join(import.meta.dirname, '..', 'src', fault.file)).href;

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (url !== target) return loaded;
    return { ...loaded, source: applyFault(fault, String(loaded.source)) };
  },
});
