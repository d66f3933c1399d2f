import { apiKilled } from '../../proof/claims/api-killed.ts';
import { proveInTest } from './prove.ts';

proveInTest(apiKilled);
