import { workflowName } from '../core/workflow.ts';

/** What texts that are sent must look like, and the words in which others are refused: nobody reads a regular expression. */
export const patterns = {
  notBlank: { source: '\\S', words: 'must not be blank' },
  model: {
    source: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}/[^\\s]{1,191}$',
    words: 'must be provider/model, such as openai/gpt-5.5',
  },
  origin: {
    source: '^[a-z][a-z0-9+.-]*://([a-z0-9._-]+|\\[[0-9a-f:.]+\\])(:[0-9]{1,5})?$',
    words:
      'must be scheme://host or scheme://host:port in lower case and without a path, such as https://app.example.com',
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
