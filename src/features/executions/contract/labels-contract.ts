import { Type } from 'typebox';
import { executionFields } from '../../../core/execution/execution-fields.ts';
import * as limits from '../../../core/labels.ts';
import { nullable } from '../../../http/contract/shared.ts';

/** Who an execution was for, as callers send it. */
export const labels = {
  user: Type.Optional(
    Type.String({
      maxLength: limits.userMax,
      description: 'The end user that the call is for, as you name them.',
      examples: ['customer-4711'],
    }),
  ),
  session: Type.Optional(
    Type.String({
      maxLength: limits.sessionMax,
      description: 'The conversation or session that the call belongs to.',
      examples: ['chat-2026-11-21-93'],
    }),
  ),
  tags: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: limits.tagMax }), {
      maxItems: limits.tagsMax,
      description: 'Labels to filter and group by. A repeated tag counts once.',
      examples: [['checkout', 'beta']],
    }),
  ),
  metadata: Type.Optional(
    Type.Unsafe<Readonly<Record<string, string>>>({
      type: 'object',
      maxProperties: limits.metadataMax,
      propertyNames: { maxLength: limits.metadataNameMax },
      additionalProperties: { type: 'string', maxLength: limits.metadataValueMax },
      description: 'Strings by name, to filter and group by.',
      examples: [{ plan: 'pro' }],
    }),
  ),
};

/** As `labels` in a PATCH: an omitted field does not change, and `null` removes it. */
export const labelsPatch = {
  user: Type.Optional(nullable(labels.user)),
  session: Type.Optional(nullable(labels.session)),
  tags: Type.Optional(nullable(labels.tags)),
  metadata: Type.Optional(nullable(labels.metadata)),
};

const { user, session, tags, metadata } = executionFields;

/** The same fields in a response. Absent if the caller did not send them. */
export const recordedLabels = {
  ...{ user: user.type, session: session.type, tags: tags.type, metadata: metadata.type },
};
