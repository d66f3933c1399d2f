import { refusedRows } from '../../proof/claims/refused-rows.ts';
import { proveInTest } from './prove.ts';

proveInTest(refusedRows);
