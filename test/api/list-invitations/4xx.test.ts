import { after } from 'node:test';
import { listInvitations } from '../../../src/contract/members.ts';
import { testRefusals } from '../../harness/refusals.ts';
import { startService } from '../../harness/service.ts';

const service = await startService();
after(service.close);

testRefusals(service, listInvitations, { path: '/api/v1/invitations' });
