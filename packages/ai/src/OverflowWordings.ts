/**
 * The wordings by which providers refuse a request because it is larger than
 * the model's context window. There is no common error code for it: most send
 * an HTTP 400 like any other, and only the message tells; so the messages are
 * kept here, each with the place where it was seen.
 *
 * To add one: copy the message as the provider printed it, with its numbers, to
 * `example`; write a pattern that matches that message and leaves open only
 * what varies; say in `seen` where it was found. A pattern holds no state (no
 * `g` or `y`), ignores case, has no repetition inside a repetition and none at
 * its start, and names enough words to match none of `otherWordings`. A message
 * that was taken for an overflow and is none goes to `otherWordings`.
 *
 * @since 0.1.0
 */

/** A wording by which a provider says that a request does not fit the model's window. */
export interface Wording {
  /** Who says so. */
  readonly provider: string
  /** What a message must match; numbers and names vary. */
  readonly pattern: RegExp
  /** A message as it was seen; it may be cut after the words that matter. */
  readonly example: string
  /** Where it was seen: a documentation page or an issue. */
  readonly seen: string
}

/** A message that looks like an overflow and is none. */
export interface OtherWording {
  /** Who says so. */
  readonly provider: string
  /** A message as it was seen, less the names of accounts; it may be cut too. */
  readonly example: string
  /** What it does mean. */
  readonly meaning: string
  /** Where it was seen. */
  readonly seen: string
}

const unsourced = "not found in public documents; reported by users"

/** What is known so far. One match is enough. */
export const overflowWordings: ReadonlyArray<Wording> = [
  // Anthropic, and Claude elsewhere
  {
    provider: "Anthropic",
    pattern: /prompt is too long: [\d,]+ tokens/i,
    example: "prompt is too long: 208310 tokens > 200000 maximum",
    seen: "anthropics/claude-code#12186"
  },
  {
    provider: "Anthropic",
    pattern: /input length and `?max_tokens`? exceed context limit/i,
    example:
      "input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000, " +
      "decrease input length or `max_tokens` and try again",
    seen: "continuedev/continue#6080"
  },
  {
    provider: "Anthropic",
    pattern: /request size exceeds model context window/i,
    example: "Request size exceeds model context window",
    seen: "anthropics/claude-code#6380"
  },
  {
    // HTTP 413: too many bytes rather than too many tokens; a shorter request helps all the same.
    provider: "Anthropic",
    pattern: /request exceeds the maximum size/i,
    example: "Request exceeds the maximum size",
    seen: "anthropics/anthropic-sdk-python#938"
  },
  {
    // The type that goes with it.
    provider: "Anthropic",
    pattern: /\brequest_too_large\b/i,
    example: "request_too_large",
    seen: "anthropics/anthropic-sdk-python#938"
  },
  {
    // HTTP 413, without numbers.
    provider: "Vertex (Claude)",
    pattern: /\bprompt is too long(?:["'.]|\s*$)/i,
    example: "Prompt is too long",
    seen: "anthropics/anthropic-sdk-python#1028"
  },

  // OpenAI and Azure
  {
    // The code. Azure, Groq, Cerebras and others send it too.
    provider: "OpenAI",
    pattern: /\bcontext_length_exceeded\b/i,
    example: "context_length_exceeded",
    seen: "anomalyco/opencode#6071"
  },
  {
    provider: "OpenAI (Responses)",
    pattern: /input exceeds the context window of this model/i,
    example: "Your input exceeds the context window of this model. Please adjust your input and try again.",
    seen: "anomalyco/opencode#6071"
  },
  {
    provider: "OpenAI",
    pattern: /input tokens exceed the configured limit of [\d,]+ tokens/i,
    example:
      "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 289650 tokens. " +
      "Please reduce the length of the messages.",
    seen: "cline/cline#5474"
  },
  {
    // The words that many servers have taken over; wide on purpose.
    provider: "OpenAI (Chat)",
    pattern: /\bmaximum context length is [\d,]+ tokens/i,
    example:
      "This model's maximum context length is 128000 tokens. However, your messages resulted in " +
      "204308 tokens. Please reduce the length of the messages.",
    seen: "webtimemachine/wtm2#579"
  },
  {
    provider: "OpenAI (Chat)",
    pattern: /context length is [\d,]+ tokens\. however, you requested [\d,]+ tokens \([\d,]+ in the messages/i,
    example:
      "This model's maximum context length is 4097 tokens. However, you requested 4203 tokens " +
      "(3703 in the messages, 500 in the completion). Please reduce the length of the messages or completion.",
    seen: "The-Vibe-Company/quivr#505"
  },
  {
    provider: "OpenAI (Completions)",
    pattern: /context length is [\d,]+ tokens, however you requested [\d,]+ tokens \([\d,]+ in your prompt/i,
    example:
      "This model's maximum context length is 4097 tokens, however you requested 4231 tokens " +
      "(3975 in your prompt; 256 for the completion). Please reduce your prompt; or completion length.",
    seen: "hwchase17/chat-your-data#10"
  },
  {
    provider: "Azure OpenAI",
    pattern: /your messages resulted in [\d,]+ tokens \([\d,]+ in the messages, [\d,]+ in the functions\)/i,
    example:
      "This model's maximum context length is 4096 tokens. However, your messages resulted in 4109 tokens " +
      "(4046 in the messages, 63 in the functions). Please reduce the length of the messages or functions.",
    seen: "Azure/azure-functions-openai-extension#113"
  },

  // Google
  {
    provider: "Google Gemini",
    pattern: /input token count \([\d,]+\) exceeds the maximum number of tokens allowed/i,
    example: "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
    seen: "google-gemini/gemini-cli#6678"
  },
  {
    provider: "Google Gemini",
    pattern: /input token count exceeds the maximum number of tokens allowed \([\d,]+\)/i,
    example: "The input token count exceeds the maximum number of tokens allowed (1048576).",
    seen: "arkavo-org/arkavo-edge#371"
  },
  {
    provider: "Vertex (Gemini)",
    pattern: /input token count exceeds the maximum number of tokens allowed [\d,]+/i,
    example: "The input token count exceeds the maximum number of tokens allowed 1048576.",
    seen: "warpdotdev/warp#15662"
  },

  // OpenRouter
  {
    provider: "OpenRouter",
    pattern: /endpoint's maximum context length is [\d,]+ tokens/i,
    example:
      "This endpoint's maximum context length is 131072 tokens. However, you requested about 141607 tokens " +
      "(10535 of text input, 131072 in the output). Please reduce the length of either one",
    seen: "Aider-AI/aider#3721"
  },

  // Amazon Bedrock
  {
    provider: "Amazon Bedrock",
    pattern: /input is too long for requested model/i,
    example: "Input is too long for requested model.",
    seen: "aws-samples/bedrock-chat#95"
  },
  {
    provider: "Amazon Bedrock (Claude)",
    pattern: /returned the following errors: prompt is too long/i,
    example: "The model returned the following errors: prompt is too long: 200049 tokens > 200000 maximum",
    seen: "daisuke-awaji/moca#254"
  },
  {
    provider: "Amazon Bedrock (Nova)",
    pattern: /\binput tokens exceeded: number of input tokens exceeds/i,
    example:
      "Input Tokens Exceeded: Number of input tokens exceeds maximum length. " +
      "Please update the input to try again.",
    seen: unsourced
  },
  {
    provider: "Amazon Bedrock (Llama)",
    pattern: /\bmaximum context length is [\d,]+ tokens/i,
    example: "maximum context length is 1048576 tokens",
    seen: "NousResearch/hermes-agent#98726"
  },
  {
    // The length of the prompt in characters. With a path before `expected` it is some field instead.
    provider: "Amazon Bedrock",
    pattern: /malformed input request: expected maxLength: \d+, actual: \d+/i,
    example:
      "Malformed input request: expected maxLength: 42000, actual: 46735, " +
      "please reformat your input and try again.",
    seen: "ryanadoty/Amazon-Bedrock-Amazon-RDS-POC#9"
  },
  {
    // The bytes of the whole request.
    provider: "Amazon Bedrock",
    pattern: /'body' failed to satisfy constraint: member must have length less than or equal to/i,
    example:
      "1 validation error detected: Value at 'body' failed to satisfy constraint: " +
      "Member must have length less than or equal to 25000000",
    seen: "langchain-ai/langchain-aws#419"
  },

  // vLLM
  {
    provider: "vLLM",
    pattern: /output tokens and your prompt contains (?:at least )?[\d,]+ input tokens/i,
    example:
      "This model's maximum context length is 262144 tokens. However, you requested 128000 output tokens " +
      "and your prompt contains at least 134145 input tokens, for a total of at least 262145 tokens.",
    seen: "AIDotNet/OpenCowork#82"
  },
  {
    provider: "vLLM",
    pattern: /your prompt contains [\d,]+ characters \(more than [\d,]+ characters/i,
    example:
      "This model's maximum context length is 131072 tokens. However, you requested 131072 output tokens " +
      "and your prompt contains 14233 characters (more than 0 characters, which is the upper bound " +
      "for 0 input tokens).",
    seen: "gi-dellav/zerostack#22"
  },
  {
    provider: "vLLM",
    pattern: /your request has [\d,]+ input tokens\. please reduce the length of the input messages/i,
    example:
      "This model's maximum context length is 200 tokens. However, your request has 203 input tokens. " +
      "Please reduce the length of the input messages.",
    seen: "UKGovernmentBEIS/inspect_ai#2634"
  },
  {
    // Named after `max_tokens`, but said of input and output together.
    provider: "vLLM",
    pattern: /context length is\s+[\d,]+ tokens and your request has [\d,]+ input tokens/i,
    example:
      "'max_tokens' or 'max_completion_tokens' is too large: 1000. This model's maximum context length is " +
      "1000 tokens and your request has 203 input tokens (1000 > 1000 - 203).",
    seen: "UKGovernmentBEIS/inspect_ai#2634"
  },
  {
    provider: "vLLM",
    pattern: /\bprompt \(length [\d,]+\) is longer than the maximum model length of [\d,]+/i,
    example:
      "The decoder prompt (length 66501) is longer than the maximum model length of 65536. " +
      "Make sure that `max_model_len` is no smaller than the number of text tokens.",
    seen: "langchain-ai/deepagents#468"
  },
  {
    provider: "vLLM",
    pattern: /prompt length of [\d,]+ is longer than the maximum model length of [\d,]+/i,
    example: "Prompt length of 5016 is longer than the maximum model length of 4096.",
    seen: "hiyouga/LlamaFactory#7723"
  },
  {
    provider: "vLLM",
    pattern: /\bprompt \(total length [\d,]+\) is too long to fit into the model/i,
    example: "The prompt (total length 25938) is too long to fit into the model (context length 4096).",
    seen: "vllm-project/vllm#12165"
  },

  // SGLang
  {
    provider: "SGLang",
    pattern: /input \([\d,]+ tokens\) is longer than the model's context length \([\d,]+ tokens\)/i,
    example: "The input (61709 tokens) is longer than the model's context length (40960 tokens).",
    seen: "QwenLM/Qwen3#1321"
  },
  {
    provider: "SGLang",
    pattern: /requested token count exceeds the model's maximum context length/i,
    example:
      "Requested token count exceeds the model's maximum context length of 180000 tokens. You requested " +
      "a total of 198038 tokens: 38038 tokens from the input messages and 160000 tokens for the completion.",
    seen: "databufflabs/databuff#76"
  },
  {
    provider: "SGLang",
    pattern: /input length \([\d,]+ tokens\) exceeds the maximum allowed length \([\d,]+ tokens\)/i,
    example: "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).",
    seen: "sgl-project/sglang#4048"
  },

  // llama.cpp
  {
    provider: "llama.cpp",
    pattern: /the request exceeds the available context size/i,
    example: "the request exceeds the available context size. try increasing the context size or enable context shift",
    seen: "ggml-org/llama.cpp#15780"
  },
  {
    provider: "llama.cpp",
    pattern: /request \([\d,]+ tokens\) exceeds the available context size/i,
    example: "request (4390 tokens) exceeds the available context size (4096 tokens), try increasing it",
    seen: "ggml-org/llama.cpp#19774"
  },
  {
    provider: "llama.cpp",
    pattern: /\bexceed_context_size_error\b/i,
    example: "exceed_context_size_error",
    seen: "ggml-org/llama.cpp#15780"
  },
  {
    // HTTP 500, for the same requests that otherwise get a 400.
    provider: "llama.cpp",
    pattern: /\bcontext size has been exceeded/i,
    example: "Context size has been exceeded.",
    seen: "ggml-org/llama.cpp#19774"
  },
  {
    provider: "llama-cpp-python",
    pattern: /requested tokens(?: \([\d,]+\))? exceed context window of [\d,]+/i,
    example: "Requested tokens (2285) exceed context window of 2048",
    seen: "fedora-copr/logdetective-website#193"
  },

  // LM Studio
  {
    // The example is no slip: `context the`.
    provider: "LM Studio",
    pattern: /trying to keep the first [\d,]+ tokens when /i,
    example:
      "Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with " +
      "context length of only 32768 tokens, which is not enough.",
    seen: "lmstudio-ai/lmstudio-bug-tracker#546"
  },
  {
    provider: "LM Studio",
    pattern: /tokens to keep from the initial prompt is greater than the context length/i,
    example: "The number of tokens to keep from the initial prompt is greater than the context length.",
    seen: "logancyang/obsidian-copilot#962"
  },
  {
    provider: "LM Studio",
    pattern: /cannot truncate prompt with n_keep \(\d+\) >= n_ctx \(\d+\)/i,
    example: "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)",
    seen: "anomalyco/opencode#11141"
  },

  // Ollama
  {
    provider: "Ollama",
    pattern: /\binput length exceeds the context length/i,
    example: "the input length exceeds the context length",
    seen: "lfnovo/open-notebook#350"
  },
  {
    provider: "Ollama",
    pattern: /prompt too long; exceeded max(?:imum)? context length/i,
    example: "prompt too long; exceeded max context length by 540451 tokens",
    seen: "dyad-sh/dyad#3498"
  },

  // Hugging Face
  {
    provider: "TGI",
    pattern: /`?inputs`? tokens \+ `?max_new_tokens`? must be <= [\d,]+/i,
    example:
      "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 1512. " +
      "Given: 1000 `inputs` tokens and 1024 `max_new_tokens`",
    seen: "huggingface/chat-ui#340"
  },
  {
    provider: "TGI",
    pattern: /`?inputs`? must have less than [\d,]+ tokens/i,
    example: "Input validation error: `inputs` must have less than 1024 tokens. Given: 1872",
    seen: "huggingface/text-generation-inference#937"
  },

  // The others, by name
  {
    provider: "Cerebras",
    pattern: /or completion\. current length is [\d,]+ while limit is [\d,]+/i,
    example: "Please reduce the length of the messages or completion. Current length is 42328 while limit is 40000",
    seen: "cline/cline#5140"
  },
  {
    provider: "Cohere",
    pattern: /too many tokens: total number of tokens [^.]{0,60}cannot exceed [\d,]+/i,
    example:
      "too many tokens: total number of tokens (prompt and prediction) cannot exceed 2048 - received 6354. " +
      "Try using a shorter prompt or a smaller max_tokens value.",
    seen: "cohere-ai/sandbox-topically#4"
  },
  {
    // The range begins at 1: an empty request would be refused in the same words.
    provider: "DashScope",
    pattern: /range of input length should be \[\d+, ?\d+\]/i,
    example: "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 204800]",
    seen: "QwenLM/qwen-code#98"
  },
  {
    // Without a code of its own.
    provider: "DeepSeek",
    pattern: /\bmaximum context length is [\d,]+ tokens\. however, you requested/i,
    example:
      "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens " +
      "(122942 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.",
    seen: "evalstate/fast-agent#621"
  },
  {
    provider: "Fireworks",
    pattern: /prompt is too long: [\d,]+, model maximum context length: [\d,]+/i,
    example: "The prompt is too long: 40177, model maximum context length: 32767",
    seen: "fw-ai/cookbook#134"
  },
  {
    provider: "GitHub Copilot",
    pattern: /prompt token count of [\d,]+ exceeds the limit of [\d,]+/i,
    example: "prompt token count of 1236658 exceeds the limit of 128000",
    seen: "microsoft/vscode#289219"
  },
  {
    provider: "GitHub Copilot",
    pattern: /\bmodel_max_prompt_tokens_exceeded\b/i,
    example: "model_max_prompt_tokens_exceeded",
    seen: "microsoft/vscode#289219"
  },
  {
    // HTTP 413, code `tokens_limit_reached`: the service allows less than the model's window.
    provider: "GitHub Models",
    pattern: /request body too large for \S+ model\. max size: [\d,]+ tokens/i,
    example: "Request body too large for gpt-4o model. Max size: 8000 tokens.",
    seen: "eslint/tsc-meetings#593"
  },
  {
    provider: "Groq",
    pattern: /please reduce the length of the messages or completion/i,
    example: "Please reduce the length of the messages or completion.",
    seen: "thepersonalaicompany/amurex-backend#51"
  },
  {
    provider: "MiniMax",
    pattern: /context window exceeds limit/i,
    example: "invalid params, context window exceeds limit (2013)",
    seen: "MiniMax-AI/MiniMax-M2#119"
  },
  {
    provider: "Mistral",
    pattern: /prompt contains [\d,]+ tokens[^.]{0,40}too large for model with [\d,]+ maximum context length/i,
    example: "Prompt contains 66385 tokens, too large for model with 32768 maximum context length",
    seen: "https://portkey.ai/error-library/context-length-exceeded-error-13710000"
  },
  {
    provider: "mlx-serve",
    pattern: /prompt exceeds maximum context length/i,
    example: "Prompt exceeds maximum context length",
    seen: "ddalcu/mlx-serve#66"
  },
  {
    provider: "Moonshot",
    pattern: /request exceeded model token limit: [\d,]+/i,
    example: "Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)",
    seen: "MoonshotAI/kimi-cli#2011"
  },
  {
    provider: "Volcengine Ark",
    pattern: /input length [\d,]+ exceeds the maximum length [\d,]+/i,
    example: "Input length 203743 exceeds the maximum length 202752",
    seen: "langgenius/dify#32221"
  },
  {
    provider: "xAI",
    pattern: /maximum prompt length is [\d,]+ but the request contains [\d,]+ tokens/i,
    example: "This model's maximum prompt length is 131072 but the request contains 136973 tokens.",
    seen: "cline/cline#3120"
  },
  {
    // Code 1261.
    provider: "Z.ai",
    pattern: /prompt exceeds max length/i,
    example: "Prompt exceeds max length",
    seen: "zeroclaw-labs/zeroclaw#4124"
  },
  {
    // In the place of a finish reason.
    provider: "Z.ai",
    pattern: /\bmodel_context_window_exceeded\b/i,
    example: "model_context_window_exceeded",
    seen: "anomalyco/opencode#18918"
  }
]

/** Messages that look alike and mean something else; none of the patterns may match them. */
export const otherWordings: ReadonlyArray<OtherWording> = [
  {
    provider: "OpenAI",
    example:
      "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 342389. " +
      "The input or output tokens must be reduced in order to run successfully.",
    meaning: "more tokens than the account may use in a minute",
    seen: "vanna-ai/vanna-flask#11"
  },
  {
    provider: "OpenAI",
    example:
      "Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): " +
      "Limit 30000, Used 29937, Requested 385. Please try again in 644ms.",
    meaning: "the tokens of this minute are used up",
    seen: "BuilderIO/micro-agent#86"
  },
  {
    provider: "OpenAI",
    example:
      "max_tokens is too large: 8192. This model supports at most 4096 completion tokens, " +
      "whereas you provided 8192.",
    meaning: "a setting is out of range: the output asked for is more than the model ever writes",
    seen: "algorithmicsuperintelligence/optillm#4"
  },
  {
    provider: "Groq",
    example:
      "Request too large for model `llama-3.1-8b-instant` in organization `org_x` service tier `on_demand` " +
      "on tokens per minute (TPM): Limit 6000, Requested 36114, please reduce your message size and try again.",
    meaning: "more tokens than the account may use in a minute",
    seen: "autohandai/code-cli#377"
  },
  {
    provider: "Anthropic",
    example:
      "Number of request tokens has exceeded your per-minute rate limit " +
      "(https://docs.anthropic.com/en/api/rate-limits); see the response headers for current usage. " +
      "Please reduce the prompt length or the maximum tokens requested, or try again later.",
    meaning: "the tokens of this minute are used up",
    seen: "cline/cline#42"
  },
  {
    provider: "Anthropic",
    example:
      "Number of request tokens has exceeded your daily rate limit " +
      "(https://docs.anthropic.com/en/api/rate-limits); see the response headers for current usage. " +
      "Please reduce the prompt length or the maximum tokens requested, or try again later.",
    meaning: "the tokens of this day are used up",
    seen: "SakanaAI/AI-Scientist#115"
  },
  {
    provider: "Anthropic",
    example:
      "This request would exceed the rate limit for your organization of 20,000 input tokens per minute. " +
      "For details, refer to: https://docs.anthropic.com/en/api/rate-limits. " +
      "You can see the response headers for current usage. " +
      "Please reduce the prompt length or the maximum tokens requested, or try again later.",
    meaning: "the tokens of this minute are used up",
    seen: "FoundationAgents/OpenManus#746"
  },
  {
    provider: "Anthropic",
    example:
      "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for claude-3-haiku-20240307",
    meaning: "a setting is out of range: the output asked for is more than the model ever writes",
    seen: "continuedev/continue#4225"
  },
  {
    provider: "Anthropic",
    example: "image exceeds 5 MB maximum",
    meaning: "one image is too large",
    seen: "nraiden/cofounder#40"
  },
  {
    provider: "Amazon Bedrock",
    example: "Too many tokens, please wait before trying again.",
    meaning: "throttling",
    seen: "anthropics/claude-code#236"
  },
  {
    provider: "Amazon Bedrock",
    example: "Too many tokens per day, please wait before trying again.",
    meaning: "throttling",
    seen: "minorun365/agent-book#29"
  },
  {
    provider: "Amazon Bedrock",
    example:
      "The maximum tokens you requested exceeds the model limit of 4096. " +
      "Try again with a maximum tokens value that is lower than 4096.",
    meaning: "a setting is out of range: the output asked for is more than the model ever writes",
    seen: "langgenius/dify#10390"
  },
  {
    provider: "Amazon Bedrock (Cohere)",
    example:
      "Malformed input request: #/texts/1: expected maxLength: 2048, actual: 2449, " +
      "please reformat your input and try again.",
    meaning: "one field is too long",
    seen: "autogluon/autogluon-rag#50"
  },
  {
    provider: "OpenRouter",
    example: "This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens",
    meaning: "the account has too little money left",
    seen: "can1357/oh-my-pi#9569"
  },
  {
    provider: "Volcengine Ark",
    example:
      "The parameter `max_completion_tokens` specified in the request are not valid: " +
      "integer above maximum value, expected a value <= 12288, but got 32000 instead.",
    meaning: "a setting is out of range: the output asked for is more than the model ever writes",
    seen: "Gitlawb/openclaude#331"
  }
]

/** Whether a message, or an error code, says that the request does not fit. */
export const isOverflow = (text: string): boolean => overflowWordings.some(({ pattern }) => pattern.test(text))
