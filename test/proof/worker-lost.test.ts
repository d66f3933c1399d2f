import { workerLost } from '../../proof/claims/worker-lost.ts';
import { proveInTest } from './prove.ts';

proveInTest(workerLost);
