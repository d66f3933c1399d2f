import { Type } from 'typebox';

/** Only bounded here. The handler parses the date and reports errors in plain words. */
const date = (description: string) =>
  Type.String({ maxLength: 40, description, examples: ['2026-11-21', '2026-11-21T09:30:00Z'] });

export const startDate = date(
  'ISO 8601, inclusive. Without a zone it is in UTC (write `+` as `%2B`). A date without a time means the start of that day.',
);

export const endDate = date(
  'ISO 8601, inclusive. Without a zone it is in UTC (write `+` as `%2B`). A date without a time means the end of that day.',
);
