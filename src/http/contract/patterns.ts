import { namePattern, optionalNamePattern } from '../../core/people/name.ts';
import { aliasPattern, slugPattern } from '../../core/slug.ts';
import { echoServerURL } from '../../core/tools/tool-server.ts';
import { workflowName } from '../../core/workflow-name.ts';

/** Browsers omit the default port of a scheme and leading zeros. */
const notDefaultPort = '(?!http:.*:80$|https:.*:443$)';
const port = '[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]';
const host = '[a-z0-9._-]+|\\[[0-9a-f:.]+\\]';

const nameRequirement =
  'must have a visible character, and no control character, line break, bidirectional override or isolate';

/** Patterns of request fields, each with its requirement in words for error messages. */
export const patterns = {
  notBlank: { source: '\\S', requirement: 'must not be blank' },
  name: { source: namePattern, requirement: nameRequirement },
  optionalName: { source: optionalNamePattern, requirement: `${nameRequirement}, or be empty` },
  model: {
    source: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}/[^\\s]{1,191}$',
    requirement: 'must be provider/model, such as openai/gpt-5.5',
  },
  origin: {
    source: `^${notDefaultPort}[a-z][a-z0-9+.-]*://(${host})(:(${port}))?$`,
    requirement:
      'must be scheme://host or scheme://host:port in lower case without a path, such as https://app.example.com; the port must be at most 65535 and omitted if it is the default port of http or https',
  },
  filePlaceholder: {
    source: '^\\{\\{[ \\t]*[A-Za-z_][A-Za-z0-9_]*[ \\t]*\\}\\}$',
    requirement: 'must be exactly one placeholder, such as {{photo}}',
  },
  variableName: {
    source: '^[A-Za-z_][A-Za-z0-9_]*$',
    requirement:
      'must be a name of letters a to z, digits and underscores that does not start with a digit',
  },
  workflowName: {
    source: workflowName.source,
    requirement:
      'must be a name of at most 64 letters a to z, digits and underscores that does not start with a digit',
  },
  querySearch: {
    source: '^[\\x21-\\x7e]*$',
    requirement: 'must be a percent-encoded query, such as status=failed&q=high%20tide',
  },
  slug: {
    source: slugPattern,
    requirement:
      'must have 1 to 64 lower-case letters a to z, digits, underscores and hyphens, and not the form of an identifier',
  },
  alias: {
    source: aliasPattern,
    requirement:
      'must have 1 to 128 letters A to Z and a to z, digits, dots, underscores, colons and hyphens, and be neither "." nor ".." nor have the form of an identifier',
  },
  versionNumber: {
    source: '^[1-9][0-9]{0,8}$',
    requirement: 'must be a number of at most 9 digits that does not start with 0',
  },
  toolName: {
    source: '^[A-Za-z0-9_-]+$',
    requirement: 'must be a name of letters a to z, digits, underscores and hyphens',
  },
  boundValue: {
    source: '^(user|session|metadata\\..{1,64})$',
    requirement: 'must be user, session or metadata. with a name, such as metadata.customer',
  },
  email: { source: '^[^\\s@]+@[^\\s@]+$', requirement: 'must be an e-mail address' },
  url: {
    source: '^https?://\\S+$',
    requirement: 'must start with http:// or https:// and contain no spaces',
  },
  toolServerURL: {
    source: `^(https?://\\S+|${echoServerURL})$`,
    requirement: `must start with http:// or https:// and contain no spaces, or be ${echoServerURL}`,
  },
  ownPage: {
    source: '^/(?![/\\\\])',
    requirement: 'must be a path on this server, such as /agents',
  },
  dollars: {
    source: '^\\d{1,9}(\\.\\d{1,10})?$',
    requirement:
      'must be a dollar amount, such as 0.05, with at most 9 digits before the point and 10 after it',
  },
  streamPosition: {
    source: '^\\d{1,9}\\.\\d{1,10}$',
    requirement: 'must be "attempt.offset", such as "2.1834": the id of the last event',
  },
  price: {
    source: '^[0-9]{1,7}(\\.[0-9]{1,12})?$',
    requirement:
      'must be a dollar amount, such as 2.50, with at most 7 digits before the point and 12 after it',
  },
} as const;

/** The requirement of a pattern, as the rest of a sentence. `undefined` for an unknown pattern. */
export function requirementOf(pattern: unknown): string | undefined {
  return Object.values(patterns).find(({ source }) => source === pattern)?.requirement;
}
