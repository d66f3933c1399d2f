import type { VersionContent } from '../../core/agent/version-content.ts';
import { sql } from '../../db/sql.ts';

/** The content of a version in its columns. `json` keeps the order of names, which a model sees in the schema of a tool. */
export interface StoredContent extends Pick<VersionContent, 'system' | 'user'> {
  readonly content: string | null;
}

/** SQL: the columns of a `StoredContent` of version `v`. */
export const contentColumns = sql`v.system_template as system, v.user_template as "user", v.content`;

type Rest = Omit<VersionContent, 'system' | 'user'>;

export function contentOf({ system, user, content }: StoredContent): VersionContent {
  const rest: Partial<Rest> = content === null ? {} : JSON.parse(content);
  const { messages = null, tools = null, toolChoice = null, executedTools = null } = rest;
  return { system, user, messages, tools, toolChoice, ...(executedTools && { executedTools }) };
}

/** The column `content`; null for a version that is only the short form. */
export function storedContent({
  messages,
  tools,
  toolChoice,
  executedTools = null,
}: Rest): string | null {
  const given = Object.entries({ messages, tools, toolChoice, executedTools }).filter(
    ([, value]) => value !== null,
  );
  return given.length === 0 ? null : JSON.stringify(Object.fromEntries(given));
}
