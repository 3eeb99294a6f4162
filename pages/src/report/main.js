// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The page of `uscope report --html`.
import {data, element} from "../common/page.js";

const report = data();
document.body.append(element("h1", {}, report.file));
