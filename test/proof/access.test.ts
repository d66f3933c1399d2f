import { access } from '../../proof/claims/access.ts';
import { proveInTest } from './prove.ts';

proveInTest(access);
