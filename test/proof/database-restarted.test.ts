import { databaseRestarted } from '../../proof/claims/database-restarted.ts';
import { proveInTest } from './prove.ts';

proveInTest(databaseRestarted);
