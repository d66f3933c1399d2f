import { workerCutOff } from '../../proof/claims/worker-cut-off.ts';
import { proveInTest } from './prove.ts';

proveInTest(workerCutOff);
