import { workflowName } from '../core/workflow/definition.ts';

/** Browsers leave out the port that the scheme has anyway, and zeros before one. */
const notUsualPort = '(?!http:.*:80$|https:.*:443$)';
const port = '[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]';
const host = '[a-z0-9._-]+|\\[[0-9a-f:.]+\\]';

/** What texts that are sent must look like, and the words in which others are refused: nobody reads a regular expression. */
export const patterns = {
  notBlank: { source: '\\S', words: 'must not be blank' },
  model: {
    source: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}/[^\\s]{1,191}$',
    words: 'must be provider/model, such as openai/gpt-5.5',
  },
  origin: {
    source: `^${notUsualPort}[a-z][a-z0-9+.-]*://(${host})(:(${port}))?$`,
    words:
      'must be scheme://host or scheme://host:port in lower case and without a path, such as https://app.example.com; the port at most 65535, and left out where it is the usual one of http or https',
  },
  variableName: {
    source: '^[A-Za-z_][A-Za-z0-9_]*$',
    words: 'must be a name of letters a to z, digits and underscores, without a digit in front',
  },
  workflowName: {
    source: workflowName.source,
    words:
      'must be a name of at most 64 letters a to z, digits and underscores, without a digit in front',
  },
  email: { source: '^[^\\s@]+@[^\\s@]+$', words: 'must be an e-mail address' },
  url: {
    source: '^https?://\\S+$',
    words: 'must begin with http:// or https:// and have no blanks',
  },
  ownPage: { source: '^/(?![/\\\\])', words: 'must be a path of this server, such as /agents' },
  dollars: {
    source: '^\\d{1,9}(\\.\\d{1,10})?$',
    words: 'must be dollars, such as 0.05: at most 9 digits before the point and 10 after it',
  },
  price: {
    source: '^[0-9]{1,7}(\\.[0-9]{1,12})?$',
    words: 'must be dollars, such as 2.50: at most 7 digits before the point and 12 after it',
  },
} as const;

/** What a text must be by that pattern, as the rest of a sentence. */
export function wordsOf(pattern: unknown): string | undefined {
  return Object.values(patterns).find(({ source }) => source === pattern)?.words;
}
