import { oneAction } from '../../proof/claims/one-action.ts';
import { proveInTest } from './prove.ts';

proveInTest(oneAction);
