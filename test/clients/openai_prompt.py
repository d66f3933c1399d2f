# The package `openai`: a call of a prompt of OpenAI. Only the environment names the server and the key.
import json

from openai import APIStatusError, OpenAI

client = OpenAI()


def prompt(version, id="pmpt_68a1f0c2b7d48190a4c0ffee"):
    tone = {"type": "input_text", "text": "dry"}
    return {"id": id, "version": version, "variables": {"city": "Rome", "tone": tone}}


def error_of(version, id):
    try:
        client.responses.create(prompt=prompt(version, id))
    except APIStatusError as error:
        return {"status": error.status_code, "code": error.code, "param": error.param}


response = client.responses.create(prompt=prompt("7"))
events = client.responses.create(prompt=prompt("7"), stream=True)
streamed = "".join(one.delta for one in events if one.type == "response.output_text.delta")

print(
    json.dumps(
        {
            "text": response.output_text,
            "version": response.prompt.version,
            "streamed": streamed,
            "errors": [
                error_of("2", "pmpt_68a1f0c2b7d48190a4c0ffee"),
                error_of("7", "pmpt_0"),
            ],
        }
    )
)
