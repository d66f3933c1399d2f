import { type Static, Type } from 'typebox';
import { auditActions } from '../../core/people/audit.ts';
import { endpoint } from '../endpoint.ts';
import { id, nullable, oneOf, page, pageQuery, query, time } from '../shared.ts';

const action = oneOf(auditActions, 'The action.');

export const AuditLine = Type.Object(
  {
    auditId: id('audit', 'Identifier.'),
    at: time('When.'),
    action,
    subject: Type.String({ description: 'Identifier or name of the affected resource.' }),
    userId: nullable(
      id('user'),
      'The user, or the issuer of the key. `null` for the service itself and its command line.',
    ),
    apiKeyId: nullable(id('key'), 'The key used. `null` for a session.'),
    details: Type.Object({}, { additionalProperties: true, description: 'Additional data.' }),
  },
  { title: 'AuditLine' },
);
export type AuditLine = Static<typeof AuditLine>;

export const listAudit = endpoint({
  id: 'listAudit',
  method: 'GET',
  path: '/api/v1/audit',
  summary: 'List the audit log',
  description:
    'Sorted newest first: changes of keys, agents, members, providers, plan and retention, and deletions. Each entry was committed together with its change.',
  tag: 'Audit',
  auth: 'own',
  query: query({ ...pageQuery, action: Type.Optional(action) }),
  responses: { 200: page('AuditList', 'audit', AuditLine) },
});
