/**
 * Errors of real providers, one per line: name, status, expected code, `again` (retryable) or `final`, expected part of
 * the message, and the body.
 */
export const providerErrors = `
OpenAI: key | 401 | PROVIDER_AUTH | final | The provider answered 401: Incorrect API key provided: [redacted] | {"error":{"message":"Incorrect API key provided: sk-ab***yz.","code":"invalid_api_key"}}
OpenAI: region | 403 | PROVIDER_AUTH | final | territory not supported | {"error":{"message":"Country, region, or territory not supported","code":"unsupported_country_region_territory"}}
OpenAI: model | 404 | MODEL_NOT_FOUND | final | gpt-9 | {"error":{"message":"The model \`gpt-9\` does not exist or you do not have access to it.","code":"model_not_found"}}
OpenAI: rate | 429 | PROVIDER_RATE_LIMITED | again | Rate limit | {"error":{"message":"Rate limit reached for gpt-4o on tokens per min","type":"tokens","code":"rate_limit_exceeded"}}
OpenAI: quota | 429 | PROVIDER_QUOTA | final | quota | {"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","code":"insufficient_quota"}}
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
Anthropic: size | 413 | PROVIDER_ERROR | final | size | {"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}
Anthropic: filter | 400 | CONTENT_FILTERED | final | filter | {"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}
Anthropic: credit | 400 | PROVIDER_QUOTA | final | credit | {"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}
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
llama.cpp: context, as a fault | 500 | CONTEXT_LENGTH | final | context size | {"error":{"code":500,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"server_error"}}
llama.cpp: larger, as a fault | 500 | CONTEXT_LENGTH | final | max context size | {"error":{"code":500,"message":"input is larger than the max context size. skipping","type":"server_error"}}
llama.cpp: buffer | 500 | PROVIDER_ERROR | again | buffer | {"error":{"code":500,"message":"CUDA out of memory: buffer is larger than the max context size","type":"server_error"}}
a gateway: hidden details of a key | 401 | PROVIDER_AUTH | final | Invalid token | {"error":{"message":"Invalid token. Details are hidden because they may contain sensitive information."}}
a gateway: hidden details of a model | 404 | MODEL_NOT_FOUND | final | hidden | {"error":{"message":"The model x does not exist. (Trace hidden: sensitive information)"}}
a gateway: tokens of a plan, in a 200 | 200 | PROVIDER_ERROR | again | daily | {"error":{"message":"Your daily tokens exceed the limit of your plan."}}
a gateway: a limit beside a choice | 200 | PROVIDER_RATE_LIMITED | again | answered 429 | {"error":{"code":429,"message":"Rate limit exceeded"},"choices":[{"index":0}]}
llama.cpp: memory | 500 | PROVIDER_ERROR | again | context size | {"error":{"code":500,"message":"failed to allocate the context size of 32768","type":"server_error"}}
SiliconFlow: context | 400 | CONTEXT_LENGTH | final | max_seq_len | {"code":20015,"message":"length of prompt_tokens (33000) must be less than max_seq_len (32768).","data":null}
Volcengine: context | 400 | CONTEXT_LENGTH | final | exceed max | {"error":{"message":"Total tokens of image and text exceed max message tokens.","type":"BadRequest"}}
a gateway: tokens over the limit | 400 | CONTEXT_LENGTH | final | 132000 | {"error":{"message":"Requested 132000 tokens exceed the limit of 127072"}}
Baidu: context | 400 | CONTEXT_LENGTH | final | 516096 | {"error":{"message":"the max input characters is 516096"}}
Volcengine: filter | 400 | CONTENT_FILTERED | final | sensitive | {"error":{"code":"InputTextSensitiveContentDetected","message":"The request failed because the input text may contain sensitive information.","type":"BadRequest"}}
MiniMax: filter | 400 | CONTENT_FILTERED | final | new_sensitive | {"error":{"message":"input new_sensitive (1026)"}}
Tencent: filter | 400 | CONTENT_FILTERED | final | 违规 | {"error":{"message":"输入内容违规"}}
TGI: context | 422 | CONTEXT_LENGTH | final | 4096 | {"error":"\`inputs\` tokens + \`max_new_tokens\` must be <= 4096","error_type":"validation"}
Groq: too much for a minute | 413 | PROVIDER_RATE_LIMITED | final | 9000 | {"error":{"message":"Request too large for model: Limit 6000, Requested 9000","code":"rate_limit_exceeded"}}
Groq: context | 400 | CONTEXT_LENGTH | final | reduce | {"error":{"message":"Please reduce the length of the messages or completion."}}
DeepSeek: model | 400 | MODEL_NOT_FOUND | final | Exist | {"error":{"message":"Model Not Exist","code":"invalid_request_error"}}
DeepSeek: money | 402 | PROVIDER_QUOTA | final | Balance | {"error":{"message":"Insufficient Balance"}}
Mistral: model | 400 | MODEL_NOT_FOUND | final | mistral-9 | {"object":"error","message":"Invalid model: mistral-9","type":"invalid_model","code":"1500"}
OpenRouter: model | 400 | MODEL_NOT_FOUND | final | x/y | {"error":{"message":"x/y is not a valid model ID","code":400}}
OpenRouter: moderation | 403 | CONTENT_FILTERED | final | flagged | {"error":{"message":"Your input was flagged","code":403,"metadata":{"reasons":["x"]}}}
OpenRouter: the provider behind it, in a 200 | 200 | PROVIDER_ERROR | again | answered 502 | {"error":{"message":"Provider returned error","code":502}}
OpenRouter: a limit, in a 200 | 200 | PROVIDER_RATE_LIMITED | again | answered 429 | {"error":{"message":"Rate limited upstream","code":429}}
OpenAI: a limit, in a response | 200 | PROVIDER_RATE_LIMITED | again | answered with an error: Rate limit | {"object":"response","status":"failed","error":{"code":"rate_limit_exceeded","message":"Rate limit reached for gpt-4o."},"output":[],"usage":null}
OpenAI: policy, in a response | 200 | CONTENT_FILTERED | final | answered with an error: Invalid prompt | {"object":"response","status":"failed","error":{"code":"invalid_prompt","message":"Invalid prompt."},"output":[],"usage":null}
LM Studio: path, in a 200 | 200 | PROVIDER_ERROR | final | Is the base URL right? | {"error":"Unexpected endpoint or method. (POST /chat/completions)"}
Zhipu: credit, in a 200 | 200 | PROVIDER_QUOTA | final | Insufficient | {"code":1113,"msg":"Insufficient balance","success":false}
a gateway: a message instead of an answer | 200 | PROVIDER_ERROR | again | went wrong | {"code":9,"message":"Something went wrong","data":null}
a gateway: a status instead of an answer | 200 | PROVIDER_AUTH | final | answered 401 | {"code":401,"msg":"Who are you?"}
Bedrock: expired | 403 | PROVIDER_AUTH | final | expired | {"message":"The security token included in the request is expired"}
Azure: filter with its findings | 400 | CONTENT_FILTERED | final | policy | {"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"jailbreak":{"filtered":true}}}}}
a gateway: key, in a 200 | 200 | PROVIDER_AUTH | final | answered with an error: no such key | {"error":{"message":"no such key","code":"invalid_api_key"}}
a gateway: quota, in a 200 | 200 | PROVIDER_QUOTA | final | answered with an error: pay | {"error":{"message":"pay","code":"insufficient_quota"}}
a gateway: a limit by its words, in a 200 | 200 | PROVIDER_RATE_LIMITED | again | answered with an error: Too many | {"error":"Too many requests"}
Anthropic: overloaded, in a 200 | 200 | PROVIDER_ERROR | again | answered with an error: Overloaded | {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}
OpenAI: no access to a model | 403 | MODEL_NOT_FOUND | final | gpt-9 | {"error":{"message":"Project \`p\` does not have access to model \`gpt-9\`","code":"model_not_found"}}
OpenAI: context window | 400 | CONTEXT_LENGTH | final | window | {"error":{"message":"Your input exceeds the context window of this model.","code":null}}
OpenAI: safety system | 400 | CONTENT_FILTERED | final | safety | {"error":{"message":"Your request was rejected as a result of our safety system.","code":"moderation_blocked"}}
Azure: call volume | 403 | PROVIDER_QUOTA | final | replenished | {"statusCode":403,"message":"Out of call volume quota. Quota will be replenished in 2.12 hours."}
Anthropic: usage limit | 400 | PROVIDER_QUOTA | final | regain | {"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."}}
Anthropic: context limit | 400 | CONTEXT_LENGTH | final | 195000 | {"type":"error","error":{"type":"invalid_request_error","message":"input length and \`max_tokens\` exceed context limit: 195000 + 8192 > 200000"}}
Google: per day, by its name | 429 | PROVIDER_QUOTA | final | quota | {"error":{"code":429,"message":"You exceeded your current quota. Please retry in 41.5s.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"41s"}]}}
Google: per minute, by its name | 429 | PROVIDER_RATE_LIMITED | again | quota | {"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]}]}}
Google: per day | 429 | PROVIDER_RATE_LIMITED | again | metric | {"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. Quota exceeded for metric: requests, limit: 20","status":"RESOURCE_EXHAUSTED","details":[]}}
Google: country | 400 | PROVIDER_ERROR | final | location | {"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}
Google: billing | 403 | PROVIDER_QUOTA | final | billing | {"error":{"code":403,"message":"This API method requires billing to be enabled.","status":"PERMISSION_DENIED","details":[{"reason":"BILLING_DISABLED"}]}}
Google: canceled | 499 | PROVIDER_ERROR | again | cancelled | {"error":{"code":499,"message":"The operation was cancelled.","status":"CANCELLED"}}
Vertex: context | 400 | CONTEXT_LENGTH | final | 1065432 | {"error":{"code":400,"message":"The input token count is 1065432 but model only supports up to 1048576.","status":"INVALID_ARGUMENT"}}
Vertex: words | 400 | CONTENT_FILTERED | final | sensitive | {"error":{"code":400,"message":"This prompt contains sensitive words that violate Google's Responsible AI practices.","status":"INVALID_ARGUMENT"}}
Bedrock: Claude's context | 400 | CONTEXT_LENGTH | final | 210000 | {"message":"The model returned the following errors: prompt is too long: 210000 tokens > 200000 maximum"}
Bedrock: no access | 403 | PROVIDER_AUTH | final | access | {"message":"You don't have access to the model with the specified model ID."}
Bedrock: only by a profile | 400 | MODEL_NOT_FOUND | final | throughput | {"message":"Invocation of model ID m with on-demand throughput isn't supported. Retry your request with the ID of an inference profile."}
Bedrock: end of life | 404 | MODEL_NOT_FOUND | final | life | {"message":"This model version has reached the end of its life."}
Bedrock: fault of the model | 424 | PROVIDER_ERROR | again | unexpected | {"message":"The system encountered an unexpected error during processing. Try your request again.","originalStatusCode":500}
Together: dependency | 424 | PROVIDER_ERROR | again | dependency | {"error":{"message":"Failed dependency"}}
Together: context | 422 | CONTEXT_LENGTH | final | 9000 | {"error":{"message":"Input validation error: \`inputs\` tokens + \`max_new_tokens\` must be <= 8193. Given: 9000 \`inputs\` tokens","type":"invalid_request_error"}}
Together: not serverless | 400 | MODEL_NOT_FOUND | final | serverless | {"error":{"message":"Unable to access non-serverless model m.","type":"invalid_request_error","code":"model_not_available"}}
vLLM: context | 400 | CONTEXT_LENGTH | final | 8192 | {"object":"error","message":"This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.","type":"BadRequestError","param":null,"code":400}
TGI: input | 422 | CONTEXT_LENGTH | final | 5000 | {"error":"Input validation error: \`inputs\` must have less than 4096 tokens. Given: 5000","error_type":"validation"}
TGI: loading | 503 | PROVIDER_ERROR | again | loading | {"error":"Model m is currently loading","estimated_time":20.0}
llama.cpp: loading | 503 | PROVIDER_ERROR | again | Loading | {"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}
LM Studio: context | 400 | CONTEXT_LENGTH | final | 4096 | {"error":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens."}
LM Studio: kept tokens | 400 | CONTEXT_LENGTH | final | n_ctx | {"error":"Cannot truncate prompt with n_keep (9000) >= n_ctx (4096)"}
Mistral: context | 400 | CONTEXT_LENGTH | final | 40000 | {"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_prompt","code":"3051"}
xAI: context | 400 | CONTEXT_LENGTH | final | 131072 | {"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 137854 tokens."}
xAI: credit | 403 | PROVIDER_QUOTA | final | spending | {"code":"The caller does not have permission","error":"Your team x has either used all available credits or reached its monthly spending limit."}
xAI: filter | 403 | CONTENT_FILTERED | final | guidelines | {"code":"x","error":"Content violates usage guidelines. Team: x, Model: grok-4"}
Cohere: context | 400 | CONTEXT_LENGTH | final | 4081 | {"message":"too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000."}
Cohere: trial | 429 | PROVIDER_QUOTA | final | Trial | {"message":"You are using a Trial key, which is limited to 1000 API calls / month."}
Groq: decommissioned | 400 | MODEL_NOT_FOUND | final | decommissioned | {"error":{"message":"The model \`m\` has been decommissioned and is no longer supported.","type":"invalid_request_error","code":"model_decommissioned"}}
Groq: no capacity | 498 | PROVIDER_RATE_LIMITED | again | capacity | {"error":{"message":"Flex tier capacity exceeded","code":"capacity_exceeded"}}
DeepSeek: busy | 503 | PROVIDER_ERROR | again | busy | {"error":{"message":"Service is too busy."}}
DeepSeek: risk | 400 | CONTENT_FILTERED | final | Risk | {"error":{"message":"Content Exists Risk","type":"invalid_request_error"}}
DashScope: context | 400 | CONTEXT_LENGTH | final | 30720 | {"error":{"message":"Range of input length should be [1, 30720]","code":"invalid_parameter_error","type":"invalid_request_error"}}
DashScope: filter | 400 | CONTENT_FILTERED | final | inappropriate | {"error":{"message":"Input data may contain inappropriate content.","code":"data_inspection_failed","type":"data_inspection_failed"}}
DashScope: overdue | 400 | PROVIDER_QUOTA | final | standing | {"error":{"message":"Access denied, please make sure your account is in good standing.","code":"Arrearage"}}
Zhipu: context | 400 | CONTEXT_LENGTH | final | Prompt | {"error":{"message":"Prompt 超长","code":"1261"}}
Zhipu: credit | 429 | PROVIDER_QUOTA | final | 余额不足 | {"error":{"message":"余额不足","code":"1113"}}
Moonshot: filter | 400 | CONTENT_FILTERED | final | risk | {"error":{"message":"The request was rejected because it was considered high risk","type":"content_filter"}}
Moonshot: credit | 429 | PROVIDER_QUOTA | final | billing | {"error":{"message":"Your account is suspended, please check your plan and billing details","type":"exceeded_current_quota_error"}}
Moonshot: context | 400 | CONTEXT_LENGTH | final | 8192 | {"error":{"message":"Invalid request: Your request exceeded model token limit: 8192","type":"invalid_request_error"}}
watsonx: context | 400 | CONTEXT_LENGTH | final | 8192 | {"errors":[{"message":"the number of input tokens 9000 cannot exceed the total tokens limit 8192 for this model"}]}
StepFun: filter | 451 | CONTENT_FILTERED | final | blocked | {"error":{"message":"The content you provided or machine outputted is blocked.","type":"censorship_blocked"}}
Perplexity: credit | 401 | PROVIDER_QUOTA | final | quota | {"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":401}}
Fireworks: spending | 412 | PROVIDER_QUOTA | final | spending | {"error":{"message":"Account a is suspended, possibly due to reaching the monthly spending limit","code":"PRECONDITION_FAILED"}}
SiliconFlow: credit | 403 | PROVIDER_QUOTA | final | balance | {"code":30001,"message":"Sorry, your account balance is insufficient","data":null}
Hugging Face: credit | 402 | PROVIDER_QUOTA | final | included | {"error":"You have exceeded your monthly included credits for Inference Providers."}
Hugging Face: model | 400 | MODEL_NOT_FOUND | final | enabled | {"error":{"message":"The requested model 'm' is not supported by any provider you have enabled.","code":"model_not_supported"}}
OpenRouter: credit | 402 | PROVIDER_QUOTA | final | afford | {"error":{"message":"This request requires more credits, or fewer max_tokens. You requested up to 64000 tokens, but can only afford 1234.","code":402}}
OpenRouter: key limit | 403 | PROVIDER_QUOTA | final | monthly | {"error":{"message":"Key limit exceeded (monthly limit).","code":403}}
OpenRouter: no endpoint | 404 | MODEL_NOT_FOUND | final | llama-9 | {"error":{"message":"No endpoints found for meta-llama/llama-9.","code":404}}
OpenRouter: moderation of another | 403 | CONTENT_FILTERED | final | violence | {"error":{"message":"openai/gpt-4o requires moderation on OpenAI. Your input was flagged for \\"violence\\". No credits were charged.","code":403,"metadata":{"reasons":["violence"]}}}
LiteLLM: model | 400 | MODEL_NOT_FOUND | final | foo | {"error":{"message":"litellm.BadRequestError: LLM Provider NOT provided. Pass in the LLM provider you are trying to call. You passed model=foo","type":null,"code":"400"}}
LiteLLM: budget | 400 | PROVIDER_QUOTA | final | Budget | {"error":{"message":"Budget has been exceeded! Current cost: 10.1, Max budget: 10.0","type":"budget_exceeded","code":"400"}}
one-api: channel | 503 | MODEL_NOT_FOUND | final | channel | {"error":{"message":"No available channel for model gpt-9 under group default (distributor)","type":"new_api_error","code":"model_not_found"}}
Cloudflare: blocked | 403 | PROVIDER_AUTH | final | 403: Forbidden | <html><title>Attention Required! Cloudflare</title></html>
OpenAI: too many tools | 400 | PROVIDER_ERROR | final | array too long | {"error":{"message":"Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 150 instead.","type":"invalid_request_error","param":"tools","code":"array_above_max_length"}}
OpenAI: too many messages | 400 | PROVIDER_ERROR | final | array too long | {"error":{"message":"Invalid 'messages': array too long. Expected an array with maximum length 2048, but got an array with length 3000 instead.","param":"messages","code":"array_above_max_length"}}
OpenAI: too many stop sequences | 400 | PROVIDER_ERROR | final | array too long | {"error":{"message":"Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length 9 instead.","param":"stop","code":"array_above_max_length"}}
OpenAI: name of a tool | 400 | PROVIDER_ERROR | final | string too long | {"error":{"message":"Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, but got a string with length 80 instead.","param":"tools[0].function.name","code":"string_above_max_length"}}
OpenAI: user | 400 | PROVIDER_ERROR | final | string too long | {"error":{"message":"Invalid 'safety_identifier': string too long. Expected a string with maximum length 64, but got a string with length 90 instead.","param":"safety_identifier","code":"string_above_max_length"}}
OpenAI: id of an item | 400 | PROVIDER_ERROR | final | string too long | {"error":{"message":"Invalid 'input[2].id': string too long. Expected a string with maximum length 64, but got a string with length 90 instead.","param":"input[2].id","code":"string_above_max_length"}}
OpenAI: a message | 400 | CONTEXT_LENGTH | final | 1048576 | {"error":{"message":"Invalid 'messages[17].content': string too long. Expected a string with maximum length 1048576, but got a string with length 1744259 instead.","param":"messages[17].content","code":"string_above_max_length"}}
OpenAI: a part of a message | 400 | CONTEXT_LENGTH | final | 10485760 | {"error":{"message":"Invalid 'input[0].content[0].text': string too long. Expected a string with maximum length 10485760, but got a string with length 12000000 instead.","code":"string_above_max_length"}}
OpenAI: instructions | 400 | CONTEXT_LENGTH | final | 10485760 | {"error":{"message":"Invalid 'instructions': string too long. Expected a string with maximum length 10485760, but got a string with length 12000000 instead.","code":"string_above_max_length"}}
Copilot: too many calls | 400 | PROVIDER_ERROR | final | array too long | {"error":{"message":"Invalid 'messages[21].tool_calls': array too long. Expected an array with maximum length 128, but got an array with length 131 instead.","code":"invalid_request_body"}}
Anthropic: description of a tool | 400 | PROVIDER_ERROR | final | 1024 | {"type":"error","error":{"type":"invalid_request_error","message":"tools.0.custom.description: String should have at most 1024 characters"}}
Groq: output | 400 | PROVIDER_ERROR | final | 8192 | {"error":{"message":"\`max_tokens\` must be less than or equal to \`8192\`, the maximum value for \`max_tokens\` is less than the \`context_window\` for this model","type":"invalid_request_error","param":"max_tokens"}}
Groq by LiteLLM: output | 400 | PROVIDER_ERROR | final | 8192 | {"error":{"message":"litellm.BadRequestError: GroqException - {\\"error\\":{\\"message\\":\\"\`max_tokens\` must be less than or equal to \`8192\`, the maximum value for \`max_tokens\` is less than the \`context_window\` for this model\\"}}","code":"400"}}
Bedrock: output | 400 | PROVIDER_ERROR | final | 4096 | {"message":"The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096."}
a gateway: output | 400 | PROVIDER_ERROR | final | 8192 | {"error":{"message":"max_tokens cannot exceed 8192"}}
TGI: output | 422 | PROVIDER_ERROR | final | positive | {"error":"Input validation error: \`max_new_tokens\` must be strictly positive","error_type":"validation"}
a server: unknown field | 400 | PROVIDER_ERROR | final | context_length | {"error":{"message":"Unrecognized request argument supplied: context_length"}}
vLLM: prompt and output | 400 | CONTEXT_LENGTH | final | 8192 | {"object":"error","message":"'max_tokens' or 'max_completion_tokens' is too large: 9000. This model's maximum context length is 8192 tokens and your request has 20 input tokens (9000 > 8192 - 20).","type":"BadRequestError","code":400}
vLLM: decoder prompt | 400 | CONTEXT_LENGTH | final | 9000 | {"object":"error","message":"The decoder prompt (length 9000) is longer than the maximum model length of 8192. Make sure that \`max_model_len\` is no smaller than the number of text tokens.","type":"BadRequestError","code":400}
SGLang: context | 400 | CONTEXT_LENGTH | final | 9000 | {"object":"error","message":"The input (9000 tokens) is longer than the model's context length (8192 tokens).","type":"BadRequest","code":400}
Cerebras: context | 400 | CONTEXT_LENGTH | final | 8192 | {"message":"Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}
OpenRouter: context, behind it | 400 | CONTEXT_LENGTH | final | Provider returned error: prompt is too long | {"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\\"type\\":\\"error\\",\\"error\\":{\\"type\\":\\"invalid_request_error\\",\\"message\\":\\"prompt is too long: 210000 tokens > 200000 maximum\\"}}","provider_name":"Anthropic"}}}
OpenRouter: a limit behind it, as a text | 429 | PROVIDER_RATE_LIMITED | again | rate-limited upstream | {"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"z-ai/glm is temporarily rate-limited upstream. Please retry shortly.","provider_name":"BaseTen"}}}
OpenAI: more than a minute's tokens | 429 | PROVIDER_RATE_LIMITED | final | 31538 | {"error":{"message":"Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 31538. The input or output tokens must be reduced in order to run successfully.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}
OpenAI: more than what is left of a minute | 429 | PROVIDER_RATE_LIMITED | again | 2000 | {"error":{"message":"Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Visit https://platform.openai.com/account/rate-limits to learn more.","type":"tokens","code":"rate_limit_exceeded"}}
OpenAI: more than a minute's tokens, in other words | 429 | PROVIDER_RATE_LIMITED | final | 31,538 | {"error":{"message":"Rate limit reached on tokens per min (TPM): Limit: 30,000, Used: 0, Requested: 31,538.","code":"rate_limit_exceeded"}}
OpenRouter: more than a minute's tokens behind it | 429 | PROVIDER_RATE_LIMITED | final | 36055 | {"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"{\\"error\\":{\\"message\\":\\"Request too large for gpt-5 in organization org-x on tokens per min (TPM): Limit 30000, Requested 36055.\\",\\"code\\":\\"rate_limit_exceeded\\"}}"}}}
LiteLLM: more than a minute's tokens | 429 | PROVIDER_RATE_LIMITED | final | 36055 | {"error":{"message":"litellm.RateLimitError: RateLimitError: OpenAIException - Request too large for gpt-5 in organization org-x on tokens per min (TPM): Limit 30000, Requested 36055. The input or output tokens must be reduced in order to run successfully.","type":"throttling_error","code":"429"}}
Anthropic: a minute's tokens | 429 | PROVIDER_RATE_LIMITED | again | 20,000 | {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed the rate limit for your organization of 20,000 input tokens per minute. Please reduce the prompt length or the maximum tokens requested, or try again later."}}
Google: not in the plan | 429 | PROVIDER_QUOTA | final | limit: 0 | {"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.\\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 0, model: gemini-2.5-pro\\nPlease retry in 41.5s.","status":"RESOURCE_EXHAUSTED"}}
gone | 410 | MODEL_NOT_FOUND | final | 410 | {}
a name with a limit | 404 | MODEL_NOT_FOUND | final | context-window | {"error":{"message":"model 'context-window' not found"}}
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
