/**
 * A tool that the service executes, as a version has frozen it: an item of `executedTools` in `prompt_versions.content`. The model
 * sees this definition, whatever the server of the tool says today. A version has either such tools or ones that the caller executes.
 */
export interface ExecutedTool {
  /** As the model calls it; unique in its version. */
  readonly name: string;
  readonly description?: string;
  /** A JSON Schema of an object: the server's, with the properties that `bind` names. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** The stored id of its server, and its name, which cannot change. */
  readonly server: string;
  readonly serverName: string;
  /** Its name on that server. */
  readonly tool: string;
  /** Of the server's definition: lower-case hex SHA-256 of its canonical JSON. */
  readonly digest: string;
  /** Only `never` can be executed: there are no approvals yet. */
  readonly approval: 'never' | 'always';
  /** A person has said that repeating a call does no harm. */
  readonly safe: boolean;
  /** Properties whose values come from the call, by name: `user`, `session`, or `metadata.` and a name. */
  readonly bind: Readonly<Record<string, string>>;
  /** Bytes of a result that the model sees. */
  readonly resultLimit: number;
  /** Whether the description is the version's own. */
  readonly isDescribed?: boolean;
  /** For one request. */
  readonly timeoutMs: number;
}
