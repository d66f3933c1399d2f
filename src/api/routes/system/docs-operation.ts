import { codeBlock, inline, json, marked, prose, toHtml } from './docs-html.ts';
import {
  boundsOf,
  type Field,
  fieldsOf,
  resolve,
  type Schema,
  type Schemas,
  sample,
  typeOf,
} from './docs-schema.ts';

/** One operation of the reference page. */

export interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Schemas;
    readonly responses: Readonly<Record<string, Answer>>;
  };
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly (Parameter & { readonly $ref?: string })[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Answer & { readonly $ref?: string }>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Answer {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Content;
}

type Content = Readonly<Record<string, Media>>;
interface Media {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

/** An operation with where it is called. */
export interface Call {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}

export function article(call: Call, document: Document): string {
  const { operation, method, path } = call;
  const { operationId: id, summary, description } = operation;
  return `<article id="${toHtml(id)}" aria-labelledby="${toHtml(id)}-title">
<header>
<h3 id="${toHtml(id)}-title"><a href="#${toHtml(id)}">${inline(summary)}</a></h3>
<p class="route"><b class="method ${method}">${method.toUpperCase()}</b> <code>${marked(path)}</code></p>
<p class="auth">${inline(authWords(operation))}</p>
</header>
<div class="words">
${description ? prose(description) : ''}
${parameters(operation, document)}
${requestBody(operation, document.components.schemas)}
${answers(operation, document)}
</div>
<div class="examples">
${codeBlock('Request', marked(curl(call, document)))}
${exampleAnswers(operation, document)}
</div>
</article>`;
}

/** Who may call, in words. */
export function authWords({ security }: Operation): string {
  const permissions = security.flatMap(({ key }) => key ?? []).map((one) => `\`${one}\``);
  const rights = security.flatMap(({ session }) => session ?? []);
  const ways = [
    ...(permissions.length > 0 ? [`an API key with ${permissions.join(' or ')}`] : []),
    ...rights.map((right) => sessionWords[right] ?? 'a session'),
  ];
  if (ways.length === 0) return 'Open to anyone.';
  return `Needs ${ways.join(', or ')}${rights.includes('own') ? ', of an owner' : ''}.`;
}

const sessionWords: Readonly<Record<string, string>> = {
  read: "any member's session",
  execute: "an editor's session",
  cancel: "an editor's session",
  manage: "an editor's session",
  own: 'a session',
};

function parameters(operation: Operation, document: Document): string {
  const { schemas } = document.components;
  // A parameter that is only referred to is one of nearly all operations: it is said once, at the top of the page.
  const fields = operation.parameters
    .filter(({ $ref }) => !$ref)
    .map(({ name, in: place, required = false, description = '', schema }) => ({
      name,
      type: `${typeOf(schema, schemas)} in ${place}`,
      required,
      description,
      bounds: boundsOf(resolve(schema, schemas)),
    }));
  return table('Parameters', fields);
}

function requestBody({ requestBody: body }: Operation, schemas: Schemas): string {
  const media = body?.content['application/json'];
  if (!body || !media) return '';
  return table(body.required ? 'Body' : 'Body (optional)', fieldsOf(media.schema, schemas));
}

function table(title: string, fields: readonly Field[]): string {
  if (fields.length === 0) return '';
  return `<h4>${toHtml(title)}</h4>\n${rows(title, fields)}`;
}

function rows(title: string, fields: readonly Field[]): string {
  const all = fields.map(({ name, type, required, description, bounds }) => {
    const must = required ? ' <span class="required">required</span>' : '';
    const allowed = bounds.map(inline).join(' · ');
    return `<tr><th scope="row"><code>${breakable(name)}</code>${must}<span class="type">${toHtml(type)}</span></th><td>${inline(description)}${allowed && `<p class="bounds">${allowed}</p>`}</td></tr>`;
  });
  return `<table aria-label="${toHtml(title)}"><tbody>\n${all.join('\n')}\n</tbody></table>`;
}

/** A long name may break after a dot, never within a word. */
function breakable(name: string): string {
  return toHtml(name).replaceAll('.', '.<wbr>');
}

function answers(operation: Operation, document: Document): string {
  const all = Object.entries(operation.responses).map(([status, response]) => {
    const { description, headers = {}, content } = found(response, document);
    const schema = Object.values(content ?? {})[0]?.schema;
    const sent =
      status < '300' ? Object.keys(headers).filter((name) => name !== 'X-Request-Id') : [];
    const kind = status < '300' ? 'good' : 'bad';
    const fields = schema ? fieldsOf(schema, document.components.schemas) : [];
    const more = status < '300' ? fields : fields.filter(({ name }) => !common.has(name));
    const summary = `<b class="status ${kind}">${status}</b> <span>${inline(description)}</span>`;
    const body =
      (sent.length > 0
        ? `<p class="sent">Headers ${sent.map((name) => `<code>${toHtml(name)}</code>`).join(' ')}</p>`
        : '') + (more.length > 0 ? rows(`Fields of ${status}`, more) : '');
    if (!body) return `<div class="answer"><p>${summary}</p></div>`;
    return `<details class="answer"><summary>${summary}</summary>${body}</details>`;
  });
  return `<h4>Answers</h4>\n<div class="answers">\n${all.join('\n')}\n</div>`;
}

/** What every error has is said once, at the top of the page. */
const common = new Set(['error', 'message', 'code', 'requestId']);

function found(response: Answer & { $ref?: string }, document: Document): Answer {
  const name = response.$ref?.split('/').at(-1);
  return (name && document.components.responses[name]) || response;
}

/** A command that can be pasted once `CUELINE_URL` and `CUELINE_KEY` are set. */
function curl({ path, method, operation }: Call, document: Document): string {
  const { schemas } = document.components;
  const media = operation.requestBody?.content['application/json'];
  const query = operation.parameters.filter((one) => one.in === 'query' && one.required);
  const search = query.map(({ name, schema }) => `?${name}=${sample(schema, schemas)}`).join('');
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = operation.parameters.find((one) => one.name === name);
    const { examples } = resolve(parameter?.schema ?? {}, schemas);
    return String(examples?.[0] ?? 'openai');
  });
  const byKey = operation.security.some(({ key }) => key);
  const lines = [
    `curl${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} "$CUELINE_URL${filled}${search}"`,
    ...(byKey ? ['-H "Authorization: Bearer $CUELINE_KEY"'] : []),
    ...(!byKey && operation.security.length > 0 ? ['-b "$CUELINE_COOKIE"'] : []),
    ...(media ? ['-H "Content-Type: application/json"', `-d '${bodyText(media, schemas)}'`] : []),
  ];
  return lines.join(' \\\n  ');
}

function bodyText({ schema, examples = {} }: Media, schemas: Schemas): string {
  const value = Object.values(examples)[0]?.value ?? sample(schema, schemas, true);
  return JSON.stringify(value, null, 2).replaceAll("'", "'\\''").replaceAll('\n', '\n  ');
}

function exampleAnswers(operation: Operation, document: Document): string {
  const blocks = Object.entries(operation.responses).flatMap(([status, response]) => {
    const media = found(response, document).content?.['application/json'];
    if (!media) return [];
    const written = Object.entries(media.examples ?? {});
    const shown = written.map(([name, { value }]) => codeBlock(`${status} ${name}`, json(value)));
    if (shown.length > 0 || status >= '300') return shown;
    return [
      codeBlock(`${status} example`, json(sample(media.schema, document.components.schemas))),
    ];
  });
  return blocks.join('\n');
}
