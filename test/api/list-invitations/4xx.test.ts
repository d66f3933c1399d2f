import { after } from 'node:test';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { listInvitations } from '../../../src/contract/workspace/members.ts';

const service = await startService();
after(service.close);

testRefusals(service, listInvitations, { path: '/api/v1/invitations' });
