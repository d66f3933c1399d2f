import { fairBacklog } from '../../proof/claims/fair-backlog.ts';
import { proveInTest } from './prove.ts';

proveInTest(fairBacklog);
