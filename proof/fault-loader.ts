import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Fault, spoil } from './fault.ts';

/** Imported first by a process that is to have the fault of `CUELINE_FAULT` (JSON) in it. */

const fault = JSON.parse(process.env.CUELINE_FAULT ?? '') as Fault;
delete process.env.CUELINE_FAULT;
const target = pathToFileURL(join(import.meta.dirname, '..', 'src', fault.file)).href;

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (url !== target) return loaded;
    return { ...loaded, source: spoil(fault, String(loaded.source)) };
  },
});
