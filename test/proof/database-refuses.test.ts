import { databaseRefuses } from '../../proof/claims/database-refuses.ts';
import { proveInTest } from './prove.ts';

proveInTest(databaseRefuses);
