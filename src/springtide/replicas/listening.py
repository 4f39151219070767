"""Who wants to be told of the values of one discovery, and what each was told.

Each is told what differs from what it was told before, so nothing is told twice: not after an outage, and not
when the discovery moves to another path.
"""

from collections.abc import Callable
from typing import TypeAlias

from springtide.replicas.asking import Callback, Failed
from springtide.replicas.context import Context

End: TypeAlias = Callable[[], None]


class _Listener:
    def __init__(self, subkey: str | None, callback: Callback) -> None:
        self.subkey = subkey
        self.callback = callback
        self.told: dict[str, str] = {}
        self.is_told = False

    def is_same(self, subkey: str | None, callback: Callback) -> bool:
        """Return whether it is one for the same."""
        return self.subkey == subkey and self.callback == callback

    def note(self, subkey: str, text: str) -> None:
        """Know what it is told; what is gone need not be known."""
        if text:
            self.told[subkey] = text
        else:
            self.told.pop(subkey, None)

    def news(self, values: dict[str, str]) -> dict[str, str]:
        """Return what it is to be told, an empty text for what is gone."""
        wanted = {each for each in {**self.told, **values} if self.subkey in (None, each)}
        return {
            each: values.get(each, "")
            for each in sorted(wanted)
            if self.told.get(each, "") != values.get(each, "")
        }


class ValueListeners:
    """The listeners of one discovery, and the values that are known."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._listeners: list[_Listener] = []
        self._ready: list[_Listener] = []
        self.values: dict[str, str] = {}
        self.are_told = False

    def add(self, subkey: str | None, callback: Callback) -> End:
        """Tell this one, too; the answer ends that."""
        return _added(self._listeners, subkey, callback)

    def add_ready(self, callback: Callback) -> End:
        """Tell this one of readiness; the answer ends that."""
        return _added(self._ready, None, callback)

    @property
    def awaits_ready(self) -> bool:
        """Return whether anybody waits for readiness."""
        return any(not each.is_told for each in self._ready)

    def see(self, values: dict[str, str]) -> None:
        """Know these values."""
        self.values, self.are_told = values, True

    def unready(self) -> None:
        """Have readiness told again."""
        for each in self._ready:
            each.is_told = False

    async def tell(self) -> None:
        """Tell everybody what is new to them."""
        for each in list(self._listeners):
            for subkey, text in each.news(self.values).items():
                each.note(subkey, text)
                if each in self._listeners:
                    await self._call(each, subkey, text)

    async def tell_ready(self) -> None:
        """Tell those who wait that it is ready."""
        for each in [each for each in self._ready if not each.is_told]:
            each.is_told = True
            await self._call(each)

    async def _call(self, listener: _Listener, *arguments: str) -> None:
        answer = await listener.callback.call(*arguments)
        if isinstance(answer, Failed):
            self._context.log("listener_failed", is_fault=True, kind="discovery", why=answer.why)


def _added(listeners: list[_Listener], subkey: str | None, callback: Callback) -> End:
    one = next((each for each in listeners if each.is_same(subkey, callback)), None)
    if one is None:
        one = _Listener(subkey, callback)
        listeners.append(one)
    added = one

    def end() -> None:
        if added in listeners:
            listeners.remove(added)

    return end
