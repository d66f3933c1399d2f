import { slowClients } from '../../proof/claims/slow-clients.ts';
import { proveInTest } from './prove.ts';

proveInTest(slowClients);
