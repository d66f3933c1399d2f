import { endsTogether } from '../../proof/claims/ends-together.ts';
import { proveInTest } from './prove.ts';

proveInTest(endsTogether);
