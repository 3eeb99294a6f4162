# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Source trees of a few files, for the tests of this folder."""
import contextlib
import os
import tempfile


@contextlib.contextmanager
def small_tree(files):
    """A folder with these files ({path: text}), for as long as the `with` lasts."""
    with tempfile.TemporaryDirectory() as source:
        for name, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(source, name)), exist_ok=True)
            with open(os.path.join(source, name), "w", encoding="utf-8") as file:
                file.write(text)
        yield source
