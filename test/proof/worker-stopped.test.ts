import { workerStopped } from '../../proof/claims/worker-stopped.ts';
import { proveInTest } from './prove.ts';

proveInTest(workerStopped);
