import { workerKilled } from '../../proof/claims/worker-killed.ts';
import { proveInTest } from './prove.ts';

proveInTest(workerKilled);
