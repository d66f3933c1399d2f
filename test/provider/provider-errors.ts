/**
 * Errors of real providers, one per line: name, status, expected code, `again` (retryable) or `final`, expected part of
 * the message, and the body.
 */
export const providerErrors = `
OpenAI: key | 401 | PROVIDER_AUTH | final | The provider answered 401: Incorrect API key provided: [redacted] | {"error":{"message":"Incorrect API key provided: sk-ab***yz.","code":"invalid_api_key"}}
OpenAI: region | 403 | PROVIDER_AUTH | final | territory not supported | {"error":{"message":"Country, region, or territory not supported","code":"unsupported_country_region_territory"}}
OpenAI: model | 404 | MODEL_NOT_FOUND | final | gpt-9 | {"error":{"message":"The model \`gpt-9\` does not exist or you do not have access to it.","code":"model_not_found"}}
OpenAI: rate | 429 | PROVIDER_RATE_LIMITED | again | Rate limit | {"error":{"message":"Rate limit reached for gpt-4o on tokens per min","type":"tokens","code":"rate_limit_exceeded"}}
OpenAI: quota | 429 | PROVIDER_RATE_LIMITED | final | quota | {"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","code":"insufficient_quota"}}
OpenAI: context | 400 | CONTEXT_LENGTH | final | 8192 | {"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}
OpenAI: policy | 400 | CONTENT_FILTERED | final | policy | {"error":{"message":"Invalid prompt: flagged as potentially violating our usage policy.","code":"invalid_prompt"}}
OpenAI: parameter | 400 | PROVIDER_ERROR | final | temperature | {"error":{"message":"Unsupported parameter: 'temperature'.","code":"unsupported_parameter"}}
OpenAI: too many output tokens | 400 | PROVIDER_ERROR | final | max_tokens | {"error":{"message":"max_tokens is too large: 99999. This model supports at most 16384 completion tokens."}}
OpenAI: fault | 500 | PROVIDER_ERROR | again | server | {"error":{"message":"The server had an error."}}
Azure: filter | 400 | CONTENT_FILTERED | final | Azure | {"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's policy.","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}
Azure: deployment | 404 | MODEL_NOT_FOUND | final | deployment | {"error":{"message":"The API deployment for this resource does not exist.","code":"DeploymentNotFound"}}
Anthropic: key | 401 | PROVIDER_AUTH | final | x-api-key | {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}
Anthropic: model | 404 | MODEL_NOT_FOUND | final | claude-9 | {"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}
Anthropic: rate | 429 | PROVIDER_RATE_LIMITED | again | rate limit | {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization’s rate limit."}}
Anthropic: context | 400 | CONTEXT_LENGTH | final | 210000 | {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}
Anthropic: output | 400 | PROVIDER_ERROR | final | 8192 | {"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 99999 > 8192, which is the maximum allowed number of output tokens"}}
Anthropic: size | 413 | CONTEXT_LENGTH | final | size | {"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}
Anthropic: filter | 400 | CONTENT_FILTERED | final | filter | {"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}
Anthropic: credit | 400 | PROVIDER_ERROR | final | credit | {"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}
Anthropic: overloaded | 529 | PROVIDER_ERROR | again | Overloaded | {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}
Google: key | 400 | PROVIDER_AUTH | final | not valid | {"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}
Google: rate | 429 | PROVIDER_RATE_LIMITED | again | plan | {"error":{"code":429,"message":"You exceeded your current quota, please check your plan.","status":"RESOURCE_EXHAUSTED","details":[]}}
Google: model | 404 | MODEL_NOT_FOUND | final | gemini-9 | {"error":{"code":404,"message":"models/gemini-9 is not found for API version v1beta","status":"NOT_FOUND","details":[]}}
Google: context | 400 | CONTEXT_LENGTH | final | 1048576 | {"error":{"code":400,"message":"The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT","details":[]}}
Google: in an array | 503 | PROVIDER_ERROR | again | overloaded | [{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE","details":[]}}]
Bedrock: throttled | 429 | PROVIDER_RATE_LIMITED | again | wait | {"message":"Too many tokens, please wait before trying again."}
Bedrock: model | 400 | MODEL_NOT_FOUND | final | identifier | {"message":"The provided model identifier is invalid."}
Bedrock: context | 400 | CONTEXT_LENGTH | final | too long | {"message":"Input is too long for requested model."}
Bedrock: access | 403 | PROVIDER_AUTH | final | security token | {"Message":"The security token included in the request is invalid."}
Bedrock: model timeout | 408 | PROVIDER_ERROR | again | timed out | {"message":"Model has timed out in processing the request."}
Ollama: model | 404 | MODEL_NOT_FOUND | final | pulling | {"error":"model \\"llama9\\" not found, try pulling it first"}
Ollama: context | 400 | CONTEXT_LENGTH | final | context | {"error":"the input length exceeds the context length"}
llama.cpp: context | 400 | CONTEXT_LENGTH | final | context size | {"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}
vLLM: model | 404 | MODEL_NOT_FOUND | final | exist | {"object":"error","message":"The model \`x\` does not exist.","type":"NotFoundError","code":404}
TGI: context | 422 | CONTEXT_LENGTH | final | 4096 | {"error":"\`inputs\` tokens + \`max_new_tokens\` must be <= 4096","error_type":"validation"}
Groq: too much for a minute | 413 | PROVIDER_RATE_LIMITED | final | 9000 | {"error":{"message":"Request too large for model: Limit 6000, Requested 9000","code":"rate_limit_exceeded"}}
Groq: context | 400 | CONTEXT_LENGTH | final | reduce | {"error":{"message":"Please reduce the length of the messages or completion."}}
DeepSeek: model | 400 | MODEL_NOT_FOUND | final | Exist | {"error":{"message":"Model Not Exist","code":"invalid_request_error"}}
DeepSeek: money | 402 | PROVIDER_ERROR | final | Balance | {"error":{"message":"Insufficient Balance"}}
Mistral: model | 400 | MODEL_NOT_FOUND | final | mistral-9 | {"object":"error","message":"Invalid model: mistral-9","type":"invalid_model","code":"1500"}
OpenRouter: model | 400 | MODEL_NOT_FOUND | final | x/y | {"error":{"message":"x/y is not a valid model ID","code":400}}
OpenRouter: moderation | 403 | CONTENT_FILTERED | final | flagged | {"error":{"message":"Your input was flagged","code":403,"metadata":{"reasons":["x"]}}}
OpenRouter: the provider behind it, in a 200 | 200 | PROVIDER_ERROR | again | answered 502 | {"error":{"message":"Provider returned error","code":502}}
OpenRouter: a limit, in a 200 | 200 | PROVIDER_RATE_LIMITED | again | answered 429 | {"error":{"message":"Rate limited upstream","code":429}}
OpenAI: a limit, in a response | 200 | PROVIDER_RATE_LIMITED | again | answered with an error: Rate limit | {"object":"response","status":"failed","error":{"code":"rate_limit_exceeded","message":"Rate limit reached for gpt-4o."},"output":[],"usage":null}
OpenAI: policy, in a response | 200 | CONTENT_FILTERED | final | answered with an error: Invalid prompt | {"object":"response","status":"failed","error":{"code":"invalid_prompt","message":"Invalid prompt."},"output":[],"usage":null}
a gateway: key, in a 200 | 200 | PROVIDER_AUTH | final | answered with an error: no such key | {"error":{"message":"no such key","code":"invalid_api_key"}}
a gateway: quota, in a 200 | 200 | PROVIDER_RATE_LIMITED | final | answered with an error: pay | {"error":{"message":"pay","code":"insufficient_quota"}}
a gateway: a limit by its words, in a 200 | 200 | PROVIDER_RATE_LIMITED | again | answered with an error: Too many | {"error":"Too many requests"}
Anthropic: overloaded, in a 200 | 200 | PROVIDER_ERROR | again | answered with an error: Overloaded | {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}
FastAPI | 422 | PROVIDER_ERROR | final | field | {"detail":[{"loc":["x"],"msg":"field required"}]}
plain text | 503 | PROVIDER_ERROR | again | upstream | upstream connect error
a page | 502 | PROVIDER_ERROR | again | 502: Bad Gateway | <html><h1>Bad Gateway</h1>
nothing | 500 | PROVIDER_ERROR | again | 500: Internal Server Error | 
a status of its own | 599 | PROVIDER_ERROR | again | 599: no reason given | {}
a redirect | 307 | PROVIDER_ERROR | final | 307: Temporary Redirect | 
conflict | 409 | PROVIDER_ERROR | again | 409 | {}
too early | 425 | PROVIDER_ERROR | again | 425 | {}
no such method | 405 | PROVIDER_ERROR | final | 405 | {}
half an answer | 200 | PROVIDER_ERROR | final | could not be read | {"choices":[{"mess
`
  .trim()
  .split('\n')
  .map((line) => {
    const [name = '', status = '', code = '', fate = '', text = '', body = ''] = line.split(' | ');
    return { name, status: Number(status), code, retryable: fate === 'again', text, body };
  });
