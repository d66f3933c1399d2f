import { rollingRestart } from '../../proof/claims/rolling-restart.ts';
import { proveInTest } from './prove.ts';

proveInTest(rollingRestart);
