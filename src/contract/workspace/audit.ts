import { type Static, Type } from 'typebox';
import { auditActions } from '../../core/people/audit.ts';
import { endpoint } from '../endpoint.ts';
import { id, nullable, oneOf, page, pageQuery, query, time } from '../shared.ts';

const action = oneOf(auditActions, 'What was done.');

export const AuditLine = Type.Object(
  {
    auditId: id('audit', 'Identifier.'),
    at: time('When.'),
    action,
    subject: Type.String({ description: 'What it was done to: an identifier or a name.' }),
    userId: nullable(
      id('user'),
      'Who did it, or whose key; `null` for the service itself and its command line.',
    ),
    apiKeyId: nullable(id('key'), 'With which key; `null` for a session.'),
    details: Type.Object({}, { additionalProperties: true, description: 'What more there is.' }),
  },
  { title: 'AuditLine' },
);
export type AuditLine = Static<typeof AuditLine>;

export const listAudit = endpoint({
  id: 'listAudit',
  method: 'GET',
  path: '/api/v1/audit',
  summary: 'List who changed what',
  description:
    'Newest first: keys, agents, members, providers, plan, retention, and what was deleted. Each line was committed with what it tells of.',
  tag: 'Audit',
  auth: 'owner',
  query: query({ ...pageQuery, action: Type.Optional(action) }),
  answers: { 200: page('AuditList', 'audit', AuditLine) },
});
