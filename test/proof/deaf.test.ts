import { deaf } from '../../proof/claims/deaf.ts';
import { proveInTest } from './prove.ts';

proveInTest(deaf);
