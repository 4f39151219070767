"""The document of an API says what its endpoints and the types of their bodies say."""

import msgspec

from springtide.wire.openapi import TEXT, About, Content, Endpoint, Parameter, document

ABOUT = About(title="boats", version="v1", description="Where boats are.")


class Boat(msgspec.Struct, rename="camel"):
    """A boat."""

    tide_s: int


OF_A_BOAT = Endpoint(
    method="POST",
    path="/boats/{name}:sail",
    summary="Sail",
    description="It has to be there.",
    body=Content(holds=Boat, description="The boat as it was last seen."),
    replies={200: Content(holds=list[Boat]), 404: Content(media_type=TEXT, description="Gone.")},
    parameters=(
        Parameter(name="name", place="path", description="Its name."),
        Parameter(name="fast", description="With the motor.", is_flag=True),
    ),
)


def test_an_endpoint_is_told_with_its_bodies_and_parameters() -> None:
    made = document(ABOUT, [OF_A_BOAT])

    sail = made["paths"]["/boats/{name}:sail"]["post"]
    reference = {"$ref": "#/components/schemas/Boat"}
    assert (sail["summary"], sail["description"]) == ("Sail", "It has to be there.")
    assert sail["requestBody"] == {
        "required": True,
        "description": "The boat as it was last seen.",
        "content": {"application/json": {"schema": reference}},
    }
    assert sail["responses"]["200"] == {
        "description": "OK",
        "content": {"application/json": {"schema": {"type": "array", "items": reference}}},
    }
    assert sail["responses"]["404"]["description"] == "Gone."
    assert [(each["name"], each["in"], each["required"]) for each in sail["parameters"]] == [
        ("name", "path", True),
        ("fast", "query", False),
    ]
    assert made["components"]["schemas"]["Boat"]["properties"] == {"tideS": {"type": "integer"}}
    assert made["components"]["schemas"]["Boat"]["description"] == "A boat."


def test_methods_of_one_path_stand_together() -> None:
    look = Endpoint(method="GET", path=OF_A_BOAT.path, summary="Look", replies={200: Content()})

    made = document(ABOUT, [OF_A_BOAT, look])

    assert set(made["paths"][OF_A_BOAT.path]) == {"post", "get"}
    assert "requestBody" not in made["paths"][OF_A_BOAT.path]["get"]
