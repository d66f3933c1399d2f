import { Type } from 'typebox';
import { auditActions, commandLine, personalDays } from '../../../core/people/audit.ts';
import * as limits from '../../../http/contract/contract-limits.ts';
import { endpoint } from '../../../http/contract/operation.ts';
import { endDate, startDate } from '../../../http/contract/period.ts';
import {
  id,
  nullable,
  oneOf,
  ownId,
  page,
  pageQuery,
  query,
  reference,
  text,
  time,
} from '../../../http/contract/shared.ts';

const action = oneOf(auditActions, 'The action.');

export const AuditEntry = Type.Object(
  {
    auditId: ownId('audit'),
    at: time('When.'),
    action,
    subject: Type.String({ description: 'Identifier or name of the affected resource.' }),
    userId: nullable(
      id('user'),
      'The user, or the issuer of the key. `null` for the service itself, its command line, and refused sign-ins.',
    ),
    apiKeyId: nullable(id('key'), 'The key used. `null` for a session.'),
    via: nullable(
      oneOf([commandLine]),
      '`command line`: a command that opened the database, whose user is not known. Also in `details`.',
    ),
    details: Type.Object(
      {},
      {
        additionalProperties: true,
        description: `Additional data. \`email\` and \`ipAddress\` are deleted after ${personalDays} days.`,
      },
    ),
  },
  { title: 'AuditLine' },
);

export const listAudit = endpoint({
  id: 'listAudit',
  method: 'GET',
  path: '/api/v1/audit',
  summary: 'List the audit log',
  description:
    'Sorted newest first: changes of keys, agents, prompts, workflows, schedules, webhooks, members, invitations, providers, prices, plan and retention, deletions and erasures; also tests of providers and endpoints, events that are sent again, uploads and cancellations of batches, exports with the names of their filters, sign-ins (`session.create`), wrong passwords for known addresses (`session.refuse`), and passwords. The entry of a change is committed together with it, the others follow at once. No entry has a secret or the value of an erasure. Sign-ins and passwords appear in every workspace of the user; a sign-in that is refused before the user is known is only in the log of the server.',
  tag: 'Audit',
  auth: 'own',
  query: query({
    ...pageQuery,
    action: Type.Optional(action),
    userId: Type.Optional(
      reference('user', 'Only changes by this user, including those with keys.'),
    ),
    subject: Type.Optional(
      text(limits.nameMax, 'Only changes of this resource: the identifier or name in `subject`.'),
    ),
    startDate: Type.Optional(startDate),
    endDate: Type.Optional(endDate),
  }),
  responses: { 200: page('AuditList', 'audit', AuditEntry) },
  responseHeaders: ['Cueline-Data-As-Of'],
});
