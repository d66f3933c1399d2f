import { wordSet } from '../../core/words.ts';

/**
 * What servers say when a request has a setting, an order of roles or a schema that their model does not take. They say it in
 * many ways: OpenAI and its compatible servers, FastAPI and Pydantic (vLLM, SGLang, Mistral), serde (xAI, DeepSeek, TGI), Go
 * (Ollama), chat templates (vLLM, llama.cpp, LM Studio), gateways (LiteLLM, OpenRouter).
 */

function anyOf(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'), 'i');
}

/** Whether a text rejects a setting or its value, and not only how large it is. */
export function isUnsupported(codes: ReadonlySet<string>, text: string): boolean {
  return !codes.isDisjointFrom(unsupportedCodes) || unsupportedText.test(text);
}

const unsupportedCodes = wordSet(`
  unsupported_parameter unsupported_value unknown_parameter extra_forbidden literal_error enum
  invalid_enum_value wrong_api_format
`);

const unsupportedText = anyOf(
  /unsupported|(not|n't|no)( currently| yet)? (be )?supported|(does|do|is|are)(n't| not) (currently )?support|not support |no support for|不支持/,
  /is deprecated|not (be )?(allowed|permitted|enabled|available|implemented)|n't (allowed|available)|unimplemented/,
  /extra (inputs|fields|keys)|additional propert(y|ies)|extraneous key|cannot find field/,
  /unrecognized|unknown (variant|parameter|field|argument|name|key|option|value|property)|not (a )?(recognized|known|valid) /,
  /unexpected (message )?(role|keyword|parameter|field|argument|property|value)/,
  // The values that are taken, instead.
  /input should be (either )?['"`]|(must|should|has to) be (either|one of)|expected (one of|`|'|")|(supported|valid|allowed|accepted|possible|permitted|available) (values|options|choices)|is not (one of|in)\b|invalid (enum|option|choice|reasoning|service)/,
  /(only|default) .{0,20}(is|are) (allowed|supported|accepted)|only the default|may only be|only works (in|with)|budget \S{1,12} is invalid/,
  /(must|should) be unset|or unset|cannot (both )?be (both )?(specified|used|set|combined)|cannot be (specified|used|set) together|only one of|mutually exclusive|(is )?incompatible with/,
  /developer instruction is not enabled/,
);

/** What reasoning excludes is the objection, not reasoning: "`temperature` may only be set to 1 when thinking is enabled". */
export function withoutCondition(text: string): string {
  return text.replace(condition, '');
}

const condition =
  /\b(when|while|if|with|in|during) [`'"]?(using )?(extended |the )?(thinking|reasoning)([`'"]? (is|mode)|\b).{0,40}/gi;

/** About the role of a system text, its place, or how many there are. */
export function objectsToSystem(text: string): boolean {
  return systemText.test(text) && !aboutContent.test(text);
}

const systemText = anyOf(
  /\b(system|developer) (role|message|prompt|instruction)s?[`'"]?( \w+)?( (is|are|was))? ?(currently )?(not |un)(supported|allowed|enabled|permitted|accepted|available)/,
  /\bsystem (role|message|prompt|instruction)s?[`'"]?( \w+)? (must|should|can|may|has|have|needs?)\b/,
  /\b(first|initial|leading|optional|one|multiple|single|more than one|at most one|second)\b.{0,20} system (message|prompt|role|instruction)/,
  /\b(first|initial) message (must|should|can|may).{0,20}system|must (start|begin) with (a |the )?system|system.{0,30}\b(at the (beginning|start)|come first|be first|the first message|first in)/,
  /(unexpected|invalid|unknown|unsupported|unrecognized|incorrect) (message )?roles?:? ?[`'"]?system|roles?:? ?[`'"]?system[`'"]?( role)? (is )?(not|un|invalid)/,
  /[`'"]system[`'"].{0,40}(not (supported|allowed|permitted|valid)|unsupported|invalid|as an input message role)/,
  /(do|does)(n't| not) (accept|allow|support|take|have) (a |any |the )?[`'"]?(system|developer)\b|no (support for )?system (role|message|prompt)/,
  // Only lists without it.
  /only (?![^.]{0,80}system)[^.]{0,60}roles? (are|is) (supported|allowed)|valid role: user, model|roles? must be (in|one of) ?.?['"]?user['"]?, ?['"]?(assistant|model)/,
  /\brole\b.{0,200}input should be (?![^\]]{0,200}system)['"]user|developer instruction is not enabled|incorrect role information|角色信息不正确/,
);

/** A policy about what the text says. */
const aboutContent = /contains? (content|text|language)|content (is|was) not allowed|policy/i;

/** About roles that do not alternate. */
export function objectsToOrder(text: string): boolean {
  return orderText.test(text);
}

const orderText = anyOf(
  /\b(roles?|messages?|requests?|conversation|turns?)\b.{0,80}\balternat(e|es|ing)\b|\balternat(e|es|ing)\b.{0,40}\b(roles?|messages?|user)\b/,
  /(successive|consecutive|adjacent|back-to-back|repeated) .{0,30}(roles?|messages?|turns?)|\broles? in a row|interleave the user/,
  /2 or more (assistant|user) messages/,
);

/** About the grammar into which a server compiles a schema. Servers say it with any status. */
export function objectsToGrammar(text: string): boolean {
  return grammarText.test(text);
}

const grammarText = anyOf(
  /\bgrammars?\b|json[ _]schema (conversion|error)|vocabulary required for format|xgrammar|llguidance|\boutlines\b/,
  /(convert|transform|compile|parse|process)(ing|ed)? .{0,30}(schema|structured output)|(schema|regex) .{0,40}(not supported|unsupported|too complex)/,
  /unimplemented keys|unrecognized schema|failed to initialize samplers/,
);

/** About a schema or its form: a provider may not know the parameter, reject this schema, or not keep to it. */
export function objectsToFormat(text: string): boolean {
  return formatText.test(text) || grammarText.test(text);
}

const formatText =
  /response_?(format|schema|json_?schema|mime_?type)|json_?(schema|object|mode)|\bschema\b|output_(config|format)|structured[ _]?output|text\.format|\btools?(_?choice| use)?\b|failed to (validate|generate) json|guided_|\.format of type/i;

/** Models that answer only with a stream: DashScope, and gateways to models with long answers. */
export function wantsStream(text: string): boolean {
  return streamOnly.test(text);
}

const streamOnly =
  /only supports? (the )?stream|stream(ing)? (mode )?(is )?required|(must|please) (be |enable |set )?(the )?stream\b|requires? (the )?stream/i;
